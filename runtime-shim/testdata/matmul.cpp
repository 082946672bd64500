#include "pto/pto-inst.hpp"
using namespace pto;

#if defined(PTO_NPU_ARCH_A2A3)
constexpr BLayout left_layout = BLayout::RowMajor;
#else
constexpr BLayout left_layout = BLayout::ColMajor;
#endif

extern "C" __global__ AICORE void matmul(__gm__ half* v1, __gm__ half* v2, __gm__ float* v3) {
  const int64_t v4 = 0;

  #if defined(__DAV_CUBE__)
  using InView = GlobalTensor<half, pto::Shape<1, 1, 1, 64, 64>, pto::Stride<4096, 4096, 4096, 64, 1>, pto::Layout::ND>;
  using OutView = GlobalTensor<float, pto::Shape<1, 1, 1, 64, 64>, pto::Stride<4096, 4096, 4096, 64, 1>, pto::Layout::ND>;
  InView v5 = InView(v1);
  InView v6 = InView(v2);
  OutView v7 = OutView(v3);
  Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v8;
  TASSIGN<0x0>(v8);
  Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v9;
  TASSIGN<0x2000>(v9);
  Tile<TileType::Left, half, 64, 64, left_layout, 64, 64, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v10;
  TASSIGN<0x0>(v10);
  Tile<TileType::Right, half, 64, 64, BLayout::RowMajor, 64, 64, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> v11;
  TASSIGN<0x0>(v11);
  Tile<TileType::Acc, float, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> v12;
  uint64_t v13 = (uint64_t) v4;
  TASSIGN(v12, v13);
  TLOAD(v8, v5);
  TLOAD(v9, v6);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(v10, v8);
  TEXTRACT(v11, v9, 0, 0);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(v12, v10, v11);
  TMATMUL_ACC<AccPhase::Final>(v12, v12, v10, v11);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(v7, v12);
  #endif // __DAV_CUBE__

  pipe_barrier(PIPE_ALL);
  return;
}
