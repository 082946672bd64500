#include "pto/pto-inst.hpp"
using namespace pto;

// y = 2 x + 1 for blocks of 16 x 64: loads, vector work and stores overlap in two buffers each.
using View = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using TileRows = Tile<TileType::Vec, float, 16, 64>;

extern "C" __global__ AICORE void pipeline(__gm__ float* x, __gm__ float* y) {
#if defined(__DAV_VEC__)
  TileRows doubled;
  TASSIGN(doubled, 0x4000);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  for (int32_t i = 0; i < 6; ++i) {
    const event_t turn = (event_t)(i % 2);
    View from(x + i * 1024);
    View to(y + i * 1024);
    TileRows in;
    TileRows out;
    TASSIGN(in, 0x0 + turn * 0x1000);
    TASSIGN(out, 0x2000 + turn * 0x1000);
    wait_flag(PIPE_V, PIPE_MTE2, turn);
    TLOAD(in, from);
    set_flag(PIPE_MTE2, PIPE_V, turn);
    wait_flag(PIPE_MTE2, PIPE_V, turn);
    TMULS(doubled, in, 2.0f);
    set_flag(PIPE_V, PIPE_MTE2, turn);
    pipe_barrier(PIPE_V);
    wait_flag(PIPE_MTE3, PIPE_V, turn);
    TADDS(out, doubled, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, turn);
    pipe_barrier(PIPE_V);
    wait_flag(PIPE_V, PIPE_MTE3, turn);
    TSTORE(to, out);
    set_flag(PIPE_MTE3, PIPE_V, turn);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
#endif
}
