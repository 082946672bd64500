//===- Comm.td - communication between cards, asynchronous transfers -*- tablegen -*-===//
//
// The synchronous calls are whole programs of the library: they load into staging tiles on PIPE_MTE2, combine on PIPE_V
// (treduce) and store on PIPE_MTE3, with flags of their own between the phases. `events` names the pairs of pipes. Flags 0
// and 1 are used, also with one staging tile (tput halves a tile and takes its halves in turn); treduce uses 0 to 2.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_COMM_TD
#define PTO_COMM_TD

include "Base.td"
include "Enums.td"

def PTO_IsAsyncSession : CPred<"::llvm::isa<::pto::AsyncSessionType>($_self)">;
def PTO_IsAsyncEvent : CPred<"::llvm::isa<::pto::AsyncEventType>($_self)">;
def PTO_IsPrefetchContext : CPred<"::llvm::isa<::pto::PrefetchAsyncContextType>($_self)">;
def AsyncSession : PTO_Operand<"any", "none", PTO_IsAsyncSession, "asynchronous session">,
                   BuildableType<"::pto::AsyncSessionType::get($_builder.getContext())">;
def AsyncEvent : PTO_Operand<"any", "none", PTO_IsAsyncEvent, "asynchronous event">,
                 BuildableType<"::pto::AsyncEventType::get($_builder.getContext())">;
def PrefetchContext : PTO_Operand<"any", "none", PTO_IsPrefetchContext, "prefetch context">;
def Truth : PTO_Operand<"scalar", "none", CPred<"$_self.isSignlessInteger(1)">, "i1">;

//===----------------------------------------------------------------------===//
// Between two cards
//===----------------------------------------------------------------------===//

// A copy through one staging tile, or two in turn.
class CommCopyOp<string mnemonic, dag attributes> : PTO_Op<mnemonic> {
  let arguments = !con((ins ViewOut:$dst, ViewIn:$src, TileTmp:$ping, Optional<TileTmp>:$pong), attributes);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` `buf` `(` $ping (`,` $pong^)? `)` `:` type($dst) `,` type($src) `,` type($ping)
        (`,` type($pong)^)? `)` attr-dict
  }];
  let pipe = "PIPE_ALL";
  let events = "MTE2>MTE3 MTE3>MTE2";
  let rule = "comm_copy";
}
def CommTPutOp : CommCopyOp<"comm.tput",
    (ins DefaultValuedAttr<PTO_AtomicTypeAttr, "::pto::AtomicType::atomic_none">:$atomicType)> {
  let summary = "copies a tensor window to another card through a staging tile";
}
def CommTGetOp : CommCopyOp<"comm.tget", (ins)> { let summary = "copies a tensor window from another card through a staging tile"; }

class CommSignalOp<string mnemonic, dag signal, dag attribute> : PTO_Op<mnemonic> {
  let arguments = !con(signal, (ins IntScalar:$value), attribute);
  let assemblyFormat = "`(` $signal `,` $value `:` type($signal) `,` type($value) `)` attr-dict";
  let pipe = "PIPE_ALL";
  let rule = "comm_signal";
}
def CommTNotifyOp : CommSignalOp<"comm.tnotify", (ins ViewOut:$signal), (ins PTO_NotifyOpAttr:$notifyOp)> {
  let summary = "tells another card through a signal word";
}
def CommTWaitOp : CommSignalOp<"comm.twait", (ins ViewIn:$signal), (ins PTO_WaitCmpAttr:$cmp)> {
  let summary = "waits until a signal word compares as asked";
}
def CommTTestOp : CommSignalOp<"comm.ttest", (ins ViewIn:$signal), (ins PTO_WaitCmpAttr:$cmp)> {
  let summary = "whether a signal word compares as asked now";
  let results = (outs Truth:$result);
  let assemblyFormat = "`(` $signal `,` $value `:` type($signal) `,` type($value) `)` attr-dict `->` type($result)";
}

//===----------------------------------------------------------------------===//
// In a group of cards
//===----------------------------------------------------------------------===//

// `(%tensor, recv(%ping[, %pong]), group(%g0, ...) : types) {root = r : i32}`, in the order of the operands.
class CommGroupOp<string mnemonic, dag args> : PTO_Op<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = args;
  let hasCustomAssemblyFormat = 1;
  let pipe = "PIPE_ALL";
  let events = "MTE2>MTE3 MTE3>MTE2";
  let rule = "comm_group";
}
def CommTBroadcastOp : CommGroupOp<"comm.tbroadcast",
    (ins ViewIn:$src, TileTmp:$ping, Optional<TileTmp>:$pong, Variadic<ViewOut>:$group, I32Attr:$root)> {
  let summary = "copies a tensor to every member of a group";
}
def CommTGatherOp : CommGroupOp<"comm.tgather",
    (ins ViewOut:$dst, TileTmp:$ping, Optional<TileTmp>:$pong, Variadic<ViewIn>:$group, I32Attr:$root)> {
  let summary = "puts the tensors of a group one below the other";
}
def CommTScatterOp : CommGroupOp<"comm.tscatter",
    (ins ViewIn:$src, TileTmp:$ping, Optional<TileTmp>:$pong, Variadic<ViewOut>:$group, I32Attr:$root)> {
  let summary = "gives each member of a group its rows of a tensor";
}
def CommTReduceOp : CommGroupOp<"comm.treduce",
    (ins ViewOut:$dst, TileTmp:$acc, TileTmp:$ping, Optional<TileTmp>:$pong, Variadic<ViewIn>:$group,
         PTO_ReduceOpAttr:$reduceOp, I32Attr:$root)> {
  let summary = "the sum, maximum or minimum of the tensors of a group";
  let events = "MTE2>V V>MTE2 V>MTE3 MTE2>MTE3 MTE3>MTE2";
}

//===----------------------------------------------------------------------===//
// Asynchronous transfers: by an engine beside the core, complete when their event says so
//===----------------------------------------------------------------------===//

def BuildAsyncSessionOp : PTO_Op<"comm.build_async_session"> {
  let summary = "opens a queue of asynchronous transfers";
  let arguments = (ins TileTmp:$scratch, PtrRef:$workspace, OptionalAttr<I32Attr>:$sync_id,
                       OptionalAttr<I64Attr>:$block_bytes, OptionalAttr<I64Attr>:$comm_block_offset,
                       OptionalAttr<I32Attr>:$queue_num, OptionalAttr<I64Attr>:$channel_group_idx);
  let results = (outs AsyncSession:$session);
  let assemblyFormat = "`(` $scratch `,` $workspace `:` type($scratch) `,` type($workspace) `)` attr-dict `->` type($session)";
  let pipe = "PIPE_ALL";
  let rule = "build_async_session";
}

class AsyncCopyOp<string mnemonic, string call> : PTO_Op<mnemonic> {
  let arguments = (ins ViewOut:$dst, ViewIn:$src, AsyncSession:$session);
  let results = (outs AsyncEvent:$event);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` $session `:` type($dst) `,` type($src) `,` type($session) `)` attr-dict `->` type($event)
  }];
  let cpp = "pto::comm::" # call # "<pto::comm::DmaEngine::SDMA>($dst, $src, $session)";
  let pipe = "PIPE_ALL";
  let rule = "async_copy";
}
def TPutAsyncOp : AsyncCopyOp<"comm.tput_async", "TPUT_ASYNC"> { let summary = "starts a copy to another card"; }
def TGetAsyncOp : AsyncCopyOp<"comm.tget_async", "TGET_ASYNC"> { let summary = "starts a copy from another card"; }

class AsyncEventOp<string mnemonic, string method> : PTO_Op<mnemonic> {
  let arguments = (ins AsyncEvent:$event, AsyncSession:$session);
  let results = (outs Truth:$completed);
  let assemblyFormat = "`(` $event `,` $session `:` type($event) `,` type($session) `)` attr-dict `->` type($completed)";
  let cpp = "$event." # method # "($session)";
  let pipe = "PIPE_ALL";
}
def WaitAsyncEventOp : AsyncEventOp<"comm.wait_async_event", "Wait"> { let summary = "waits until a transfer is complete"; }
def TestAsyncEventOp : AsyncEventOp<"comm.test_async_event", "Test"> { let summary = "whether a transfer is complete"; }

//===----------------------------------------------------------------------===//
// Asynchronous prefetch into the L2 cache
//===----------------------------------------------------------------------===//

def MakePrefetchAsyncContextOp : PTO_Op<"make_prefetch_async_context"> {
  let summary = "what asynchronous prefetches share";
  let arguments = (ins PtrRef:$workspace);
  let results = (outs PrefetchContext:$ctx);
  let assemblyFormat = "`(` $workspace `:` type($workspace) `)` attr-dict `->` type($ctx)";
  let cpp = "pto::PrefetchAsyncContext((__gm__ uint8_t*)($workspace))";
  let rule = "byte_workspace";
}
def GetPrefetchAsyncSessionOp : PTO_Op<"get_prefetch_async_session"> {
  let summary = "the queue of a prefetch context, once something was prefetched through it";
  let arguments = (ins PrefetchContext:$ctx);
  let results = (outs AsyncSession:$session);
  let assemblyFormat = "$ctx attr-dict `:` type($ctx) `->` type($session)";
  let cpp = "$ctx.session";
}
def TPrefetchAsyncOp : PTO_Op<"tprefetch_async"> {
  let summary = "starts to bring a tensor into the L2 cache";
  let arguments = (ins ViewIn:$src, PrefetchContext:$ctx);
  let results = (outs AsyncEvent:$event);
  let assemblyFormat = "`(` $src `,` $ctx `:` type($src) `,` type($ctx) `)` attr-dict `->` type($event)";
  let cpp = "TPREFETCH_ASYNC($src, $ctx)";
  let pipe = "PIPE_ALL";
  let rule = "async_copy";
}

#endif // PTO_COMM_TD
