#include "pto/pto-inst.hpp"
using namespace pto;

// y = x w + 1 for blocks of 32 x 32: the cube half leaves products in two slots of global memory, the two vector
// halves take 16 rows each. Signals of the halves: 0 a product is there, 1 its slot is free again.
using Block = GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;
using Product = GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;
using Rows = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
using TileMat = Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 512>;
using TileRows = Tile<TileType::Vec, float, 16, 32>;

#if defined(PTO_NPU_ARCH_A2A3)
#define signal_vectors(PIPE, ID) ffts_cross_core_sync(PIPE, getFFTSMsg(2, ID))
#define signal_cube(PIPE, ID) ffts_cross_core_sync(PIPE, getFFTSMsg(2, ID))
#define await_vectors(PIPE, ID) wait_flag_dev(ID)
#define await_cube(PIPE, ID) wait_flag_dev(ID)
#else
#define signal_vectors(PIPE, ID) set_intra_block(PIPE, ID); set_intra_block(PIPE, ID + 16)
#define signal_cube(PIPE, ID) set_intra_block(PIPE, ID)
#define await_vectors(PIPE, ID) wait_intra_block(PIPE, ID); wait_intra_block(PIPE, ID + 16)
#define await_cube(PIPE, ID) wait_intra_block(PIPE, ID)
#endif

extern "C" __global__ AICORE void mixed(__gm__ half* x, __gm__ half* w, __gm__ float* slots, __gm__ float* y) {
#if defined(__DAV_CUBE__)
  TileMat w1;
  TileLeft<half, 32, 32> a0;
  TileRight<half, 32, 32> b0;
  TileAcc<float, 32, 32> product;
  TASSIGN(w1, 0x1000);
  TASSIGN(a0, 0x0);
  TASSIGN(b0, 0x0);
  TASSIGN(product, 0x0);
  Block weights(w);
  TLOAD(w1, weights);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
  TMOV(b0, w1);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (int32_t i = 0; i < 5; ++i) {
    const event_t turn = (event_t)(i % 2);
    TileMat a1;
    TASSIGN(a1, 0x0 + turn * 0x800);
    Block from(x + i * 1024);
    Product to(slots + turn * 1024);
    wait_flag(PIPE_MTE1, PIPE_MTE2, turn);
    TLOAD(a1, from);
    set_flag(PIPE_MTE2, PIPE_MTE1, turn);
    wait_flag(PIPE_MTE2, PIPE_MTE1, turn);
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TMOV(a0, a1);
    set_flag(PIPE_MTE1, PIPE_MTE2, turn);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    TMATMUL(product, a0, b0);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    if (i > 1) {
      await_vectors(PIPE_FIX, 1);
    }
    TSTORE(to, product);
    signal_vectors(PIPE_FIX, 0);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  await_vectors(PIPE_FIX, 1);
  await_vectors(PIPE_FIX, 1);
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
#endif
#if defined(__DAV_VEC__)
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  for (int32_t i = 0; i < 5; ++i) {
    const event_t turn = (event_t)(i % 2);
    Rows from(slots + turn * 1024 + get_subblockid() * 512);
    Rows to(y + i * 1024 + get_subblockid() * 512);
    TileRows in;
    TileRows out;
    TASSIGN(in, 0x0 + turn * 0x800);
    TASSIGN(out, 0x1000);
    await_cube(PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, turn);
    TLOAD(in, from);
    signal_cube(PIPE_MTE2, 1);
    set_flag(PIPE_MTE2, PIPE_V, turn);
    wait_flag(PIPE_MTE2, PIPE_V, turn);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    TADDS(out, in, 1.0f);
    set_flag(PIPE_V, PIPE_MTE2, turn);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, out);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
#endif
}
