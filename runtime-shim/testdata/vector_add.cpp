#include "pto/pto-inst.hpp"
using namespace pto;

// Both forms of TASSIGN, a dynamic valid shape, a loop-carried event id, and a scalar read.
extern "C" __global__ AICORE void vector_add(__gm__ float* v1, __gm__ float* v2, __gm__ float* v3, int32_t v4) {
  const int64_t v5 = 8192;

  #if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  pto::Shape<1, 1, 1, -1, 32> v6 = pto::Shape<1, 1, 1, -1, 32>(v4);
  pto::Stride<1024, 1024, 1024, 32, 1> v7 = pto::Stride<1024, 1024, 1024, 32, 1>();
  using View = GlobalTensor<float, pto::Shape<1, 1, 1, -1, 32>, pto::Stride<1024, 1024, 1024, 32, 1>, pto::Layout::ND>;
  View v8 = View(v1 + 1024 * get_block_idx(), v6, v7);
  View v9 = View(v2, v6, v7);
  View v10 = View(v3, v6, v7);
  Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, -1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> v11(v4);
  TASSIGN<0x0>(v11);
  Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, -1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> v12(v4);
  TASSIGN<0x1000>(v12);
  Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, -1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> v13(v4);
  uint64_t v14 = (uint64_t) v5;
  TASSIGN(v13, v14);
  TLOAD(v11, v8);
  TLOAD(v12, v9);
  for (int64_t i = 0; i < 2; i += 1) {
    set_flag(PIPE_MTE2, PIPE_V, (event_t) i);
    wait_flag(PIPE_MTE2, PIPE_V, (event_t) i);
  }
  TADD(v13, v11, v12);
  TDIV<DivAlgorithm::HIGH_PRECISION>(v13, v13, v12);
  TMULS(v13, v13, 2.0f);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE<decltype(v13), View, AtomicType::AtomicAdd>(v10, v13);
  if (v13.GetValue(0) > 0.0f) {
    TSTORE(v10, v13);
  }
  #endif // __DAV_VEC__

  pipe_barrier(PIPE_ALL);
  return;
}
