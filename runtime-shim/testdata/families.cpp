#include "pto/pto-inst.hpp"
using namespace pto;

// One call of each kind that the vector and matmul kernels leave out, in the forms that compilers emit.
using Vec = Tile<TileType::Vec, float, 32, 32>;
using Bytes = Tile<TileType::Vec, uint8_t, 33, 32>;
using Index = Tile<TileType::Vec, int32_t, 32, 32>;
using Column = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor>;
using View = GlobalTensor<float, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>, pto::Layout::ND>;
using Signal = pto::comm::Signal;
using Pipe = TPipe<0, Direction::DIR_C2V, 4096, 4, 2, true>;

static AICORE void elementwise(Vec& a, Vec& b, Vec& c, Bytes& mask, Index& index, Column& column) {
  TPRELU(c, a, b, mask);
  TREM(c, a, b, b);
  TEXP<ExpAlgorithm::HIGH_PRECISION>(c, a);
  TDIVS(c, 1.0f, a);
  TDIVS(c, a, 2.0f);
  TCMP(mask, a, b, CmpMode::GT);
  TSEL(c, mask, a, b, index);
  TCVT(index, a, RoundMode::CAST_RINT);
  TCVT(index, a, RoundMode::CAST_RINT, SaturationMode::OFF);
  TROWSUM(column, a, b);
  TROWEXPANDMUL(c, a, column);
  TROWEXPANDMUL(c, a, column, b);
  TCOLSUM(c, a);
  TCOLSUM(c, a, b, true);
  TCI<Index, int32_t, 0>(index, 0);
  TGATHER(c, a, index, b);
  TGATHER<Vec, Vec, MaskPattern::P0101>(c, a);
  TTRANS(c, a, b);
  c.SetValue(0, a.GetValue(1));
  TPRINT(c);
}

static AICORE void fifo(__gm__ float* gm) {
  Pipe pipe(gm, 0x1000, 0x0);
  TileAcc<float, 32, 32> acc;
  TASSIGN<0x0>(acc);
  Vec landing;
  TPUSH<Pipe, TileAcc<float, 32, 32>, TileSplitAxis::TILE_NO_SPLIT>(pipe, acc);
  TPOP<Pipe, Vec, TileSplitAxis::TILE_NO_SPLIT>(pipe, landing);
  TPOP<Pipe, Vec, TileSplitAxis::TILE_UP_DOWN>(pipe, landing, get_subblockid());
  TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe);
  View slot(gm);
  TALLOC<Pipe, View, TileSplitAxis::TILE_NO_SPLIT>(pipe, slot);
}

static AICORE void communicate(View& local, View& remote, Vec& staging, __gm__ int32_t* flag) {
  Signal signal(flag);
  pto::comm::TPUT(remote, local, staging);
  pto::comm::TPUT<AtomicType::AtomicAdd>(remote, local, staging, staging);
  pto::comm::TGET(local, remote, staging);
  pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::Set);
  pto::comm::TWAIT(signal, 1, pto::comm::WaitCmp::GE);
  while (!pto::comm::TTEST(signal, 2, pto::comm::WaitCmp::EQ)) {
  }
  View members[2] = {local, remote};
  auto group = pto::comm::ParallelGroup<View>::Create(members, 2, 0);
  pto::comm::TBROADCAST(group, local, staging);
  pto::comm::TREDUCE(group, local, staging, staging, pto::comm::ReduceOp::Sum);
  pto::comm::AsyncSession session;
  pto::comm::BuildAsyncSession<pto::comm::DmaEngine::SDMA>(flag, session);
  pto::comm::TPUT_ASYNC(remote, local, session).Wait(session);
}

extern "C" __global__ AICORE void families(__gm__ float* v1, __gm__ int32_t* v2) {
  Vec a, b, c;
  Bytes mask;
  Index index;
  Column column;
  View local(v1);
  View remote;
  TASSIGN(remote, v1 + 1024);
  elementwise(a, b, c, mask, index, column);
  fifo(v1);
  communicate(local, remote, c, v2);
  Tile<TileType::Vec, float, 16, 32> top;
  TSUBVIEW(top, a, 16, 0);
  Tile<TileType::Vec, float, 64, 16> reshaped;
  TRESHAPE(reshaped, a);
  v1[block_idx] = 1.0f;
  dcci((__gm__ void*)v1, cache_line_t::ENTIRE_DATA_CACHE);
  dsb((mem_dsb_t)0);
  SYNCALL<SyncCoreType::Mix>();
  TSYNC<Op::TLOAD>();
#if defined(PTO_NPU_ARCH_A2A3)
  set_ffts_base_addr((uint64_t)v2);
  ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 3));
  wait_flag_dev(3);
#else
  set_intra_block(PIPE_FIX, 3);
  wait_intra_block(PIPE_V, 3);
  get_buf(PIPE_V, 1, 0);
  rls_buf(PIPE_V, 1, 0);
#endif
  pipe_barrier(PIPE_ALL);
}
