#include "pto/pto-inst.hpp"
using namespace pto;

// c[32, 64] = a[32, 256] b[256, 64], in two halves of columns: blocks of 64 of the sum in two buffers of L1, each of
// them in two steps of 32 in two buffers of L0.
template <int R, int C, int Pitch>
using View = GlobalTensor<half, Shape<1, 1, 1, R, C>, Stride<R * Pitch, R * Pitch, R * Pitch, Pitch, 1>>;
using Result = GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<2048, 2048, 2048, 64, 1>>;
template <int R, int C>
using TileMat = Tile<TileType::Mat, half, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;

extern "C" __global__ AICORE void tiled_matmul(__gm__ half* a, __gm__ half* b, __gm__ float* c) {
#if defined(__DAV_CUBE__)
  TileAcc<float, 32, 32> sum;
  TASSIGN(sum, 0x0);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID1);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (int32_t n = 0; n < 2; ++n) {
    for (int32_t k = 0; k < 4; ++k) {
      const event_t turn = (event_t)(k % 2);
      View<32, 64, 256> from_a(a + k * 64);
      View<64, 32, 64> from_b(b + k * 64 * 64 + n * 32);
      TileMat<32, 64> a1;
      TileMat<64, 32> b1;
      TASSIGN(a1, 0x0 + turn * 0x1000);
      TASSIGN(b1, 0x2000 + turn * 0x1000);
      wait_flag(PIPE_MTE1, PIPE_MTE2, turn);
      TLOAD(a1, from_a);
      TLOAD(b1, from_b);
      set_flag(PIPE_MTE2, PIPE_MTE1, turn);
      wait_flag(PIPE_MTE2, PIPE_MTE1, turn);
      for (int32_t s = 0; s < 2; ++s) {
        const event_t step = (event_t)(s + 2);
        TileLeft<half, 32, 32> a0;
        TileRight<half, 32, 32> b0;
        TASSIGN(a0, 0x0 + s * 0x800);
        TASSIGN(b0, 0x0 + s * 0x800);
        wait_flag(PIPE_M, PIPE_MTE1, (event_t)s);
        TEXTRACT(a0, a1, 0, s * 32);
        TEXTRACT(b0, b1, s * 32, 0);
        set_flag(PIPE_MTE1, PIPE_M, step);
        wait_flag(PIPE_MTE1, PIPE_M, step);
        if (k + s == 0) {
          wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
          TMATMUL(sum, a0, b0);
        } else {
          TMATMUL_ACC(sum, sum, a0, b0);
        }
        set_flag(PIPE_M, PIPE_MTE1, (event_t)s);
      }
      set_flag(PIPE_MTE1, PIPE_MTE2, turn);
    }
    Result to(c + n * 32);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TSTORE(to, sum);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID1);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
#endif
}
