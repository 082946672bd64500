#include "pto/pto-inst.hpp"
using namespace pto;

// Tiles through pipes between the halves of a core, with every split. The macros TO_VECTOR and TO_CUBE are the
// directions, IN_GM says whether the slots are in global memory. Each pipe has its own flags, slots and results.
constexpr int tiles = 5;
constexpr int most = 48 * 64; // elements of a slot
constexpr int result = 2 * tiles * most;

template <int R, int C, int Pitch = C>
using View = GlobalTensor<float, Shape<1, 1, 1, R, C>, Stride<R * Pitch, R * Pitch, R * Pitch, Pitch, 1>>;
template <int R, int C, int VR = R, int VC = C>
using TileMat = Tile<TileType::Mat, float, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 512>;
template <uint8_t Flag, Direction D, TileSplitAxis Split>
using Pipe = TPipe<Flag, D, most * 4, 2, 2, Split == TILE_NO_SPLIT>;

constexpr bool by_rows(TileSplitAxis split) { return split == TILE_UP_DOWN || split == TILE_UP_DOWN_ODD; }
constexpr bool by_cols(TileSplitAxis split) { return split == TILE_LEFT_RIGHT || split == TILE_LEFT_RIGHT_ODD; }

// Without a split only the first vector core has a part in a pipe, but for the family whose flags gather both.
template <TileSplitAxis Split>
static AICORE bool takes_part() {
#if defined(PTO_NPU_ARCH_A2A3)
  return true;
#else
  return Split != TILE_NO_SPLIT || get_subblockid() == 0;
#endif
}

// Tile t of x times the first columns of the unit matrix.
template <uint8_t Flag, TileSplitAxis Split, int R, int C>
static AICORE void send_products(__gm__ float* x, __gm__ float* unit, __gm__ float* ring) {
  using P = Pipe<Flag, TO_VECTOR, Split>;
  P pipe(ring + Flag * most, Flag * most * 4, 0);
  TileMat<48, 64, R, 64> a1;
  TileMat<64, 64, 64, C> b1;
  TileLeft<float, 48, 64, R, 64> a0;
  TileRight<float, 64, 64, 64, C> b0;
  TileAcc<float, 48, 64, R, C> c;
  TASSIGN(a1, 0x60000);
  TASSIGN(b1, 0x70000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(c, 0x0);
  View<64, C, 64> columns(unit);
  for (int t = 0; t < tiles; ++t) {
    View<R, 64> from(x + t * R * 64);
    TLOAD(a1, from);
    TLOAD(b1, columns);
    pipe_barrier(PIPE_ALL);
    TMOV(a0, a1);
    TMOV(b0, b1);
    pipe_barrier(PIPE_ALL);
    TMATMUL(c, a0, b0);
    pipe_barrier(PIPE_ALL);
    TPUSH<P, TileAcc<float, 48, 64, R, C>, Split>(pipe, c);
    pipe_barrier(PIPE_ALL);
  }
}

// Adds one to the part of this vector core and stores it: without a split, each core has a result of its own.
template <uint8_t Flag, TileSplitAxis Split, int R, int C>
static AICORE void receive_parts(__gm__ float* ring, __gm__ float* y) {
  if (!takes_part<Split>()) return;
  using P = Pipe<Flag, TO_VECTOR, Split>;
  P pipe(ring + Flag * most, Flag * most * 4, 0);
  const int sub = get_subblockid();
  const int r = by_rows(Split) ? (R + 1 - sub) / 2 : R;
  const int c = by_cols(Split) ? (C + 1 - sub) / 2 : C;
  using Part = Tile<TileType::Vec, float, 48, by_cols(Split) ? 32 : 64, BLayout::RowMajor, -1, -1>;
  Part part(r, c);
  Part sum(r, c);
  TASSIGN(sum, 0x20000);
  for (int t = 0; t < tiles; ++t) {
    TPOP<P, Part, Split>(pipe, part);
    pipe_barrier(PIPE_ALL);
    TADDS(sum, part, 1.0f);
    if (!IN_GM) TFREE<P, Split>(pipe);
    pipe_barrier(PIPE_ALL);
    const int first = by_rows(Split) ? sub * (R - r) * C : by_cols(Split) ? sub * (C - c) : sub * tiles * most;
    using To = GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, C, 1>>;
    To to(y + Flag / 2 * result + t * most + first, Shape<1, 1, 1, -1, -1>(r, c));
    TSTORE(to, sum);
    pipe_barrier(PIPE_ALL);
  }
}

// Parts of a tile of 32 x 64 lie one behind the other in x; in boxes where the slot takes the layout of the part.
template <uint8_t Flag, TileSplitAxis Split>
static AICORE void send_parts(__gm__ float* x, __gm__ float* ring) {
  if (!takes_part<Split>()) return;
  using P = Pipe<Flag, TO_CUBE, Split>;
  P pipe(ring + Flag * most, 0, Flag * most * 4);
  constexpr int R = by_rows(Split) ? 16 : 32, C = by_cols(Split) ? 32 : 64;
#if IN_GM
  using Part = Tile<TileType::Vec, float, R, C>;
  using From = View<R, C>;
#else
  using Part = Tile<TileType::Vec, float, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
  using From = GlobalTensor<float, Shape<1, C / 8, R / 16, 16, 8>, Stride<R * C, R * 8, 128, 8, 1>, Layout::NZ>;
#endif
  Part part;
  TASSIGN(part, 0x0);
  const int sub = Split == TILE_NO_SPLIT ? 0 : get_subblockid();
  for (int t = 0; t < tiles; ++t) {
    From from(x + t * 32 * 64 + sub * R * C);
    TLOAD(part, from);
    pipe_barrier(PIPE_ALL);
    TPUSH<P, Part, Split>(pipe, part);
    pipe_barrier(PIPE_ALL);
  }
}

template <uint8_t Flag, TileSplitAxis Split>
static AICORE void receive_tiles(__gm__ float* unit, __gm__ float* ring, __gm__ float* y) {
  using P = Pipe<Flag, TO_CUBE, Split>;
  P pipe(ring + Flag * most, 0, Flag * most * 4);
  TileMat<32, 64> a1;
  TileMat<64, 64> b1;
  TileLeft<float, 32, 64> a0;
  TileRight<float, 64, 64> b0;
  TileAcc<float, 32, 64> c;
  TASSIGN(b1, 0x70000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(c, 0x0);
  View<64, 64> columns(unit);
  TLOAD(b1, columns);
  pipe_barrier(PIPE_ALL);
  TMOV(b0, b1);
  for (int t = 0; t < tiles; ++t) {
    TPOP<P, TileMat<32, 64>, Split>(pipe, a1);
    pipe_barrier(PIPE_ALL);
    TMOV(a0, a1);
    if (!IN_GM) TFREE<P, Split>(pipe);
    pipe_barrier(PIPE_ALL);
    TMATMUL(c, a0, b0);
    pipe_barrier(PIPE_ALL);
    View<32, 64> to(y + Flag / 2 * result + t * most);
    TSTORE(to, c);
    pipe_barrier(PIPE_ALL);
  }
}

extern "C" __global__ AICORE void fifo(__gm__ float* x, __gm__ float* unit, __gm__ float* ring, __gm__ float* y) {
#if defined(__DAV_CUBE__)
  send_products<0, TILE_NO_SPLIT, 32, 64>(x, unit, ring);
  send_products<2, TILE_UP_DOWN, 32, 64>(x, unit, ring);
  send_products<4, TILE_LEFT_RIGHT, 32, 64>(x, unit, ring);
#if IN_GM
  send_products<6, TILE_UP_DOWN_ODD, 33, 64>(x, unit, ring);
  send_products<8, TILE_LEFT_RIGHT_ODD, 32, 33>(x, unit, ring);
#endif
  receive_tiles<10, TILE_NO_SPLIT>(unit, ring, y);
  receive_tiles<12, TILE_UP_DOWN>(unit, ring, y);
  receive_tiles<14, TILE_LEFT_RIGHT>(unit, ring, y);
#endif
#if defined(__DAV_VEC__)
  receive_parts<0, TILE_NO_SPLIT, 32, 64>(ring, y);
  receive_parts<2, TILE_UP_DOWN, 32, 64>(ring, y);
  receive_parts<4, TILE_LEFT_RIGHT, 32, 64>(ring, y);
#if IN_GM
  receive_parts<6, TILE_UP_DOWN_ODD, 33, 64>(ring, y);
  receive_parts<8, TILE_LEFT_RIGHT_ODD, 32, 33>(ring, y);
#endif
  send_parts<10, TILE_NO_SPLIT>(x, ring);
  send_parts<12, TILE_UP_DOWN>(x, ring);
  send_parts<14, TILE_LEFT_RIGHT>(x, ring);
#endif
}
