//===- Sync.td - flags, barriers, fences, cores -*- tablegen -*-===//

#ifndef PTO_SYNC_TD
#define PTO_SYNC_TD

include "Base.td"
include "Enums.td"

// `pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]`; each element may also be a string or a full attribute.
class FlagOp<string mnemonic, string call> : PTO_Op<mnemonic> {
  let arguments = (ins PTO_PipeAttr:$src_pipe, PTO_PipeAttr:$dst_pipe, PTO_EventAttr:$event_id);
  let hasCustomAssemblyFormat = 1;
  let cpp = call # "($src_pipe, $dst_pipe, $event_id)";
  let rule = "flag";
}
def SetFlagOp : FlagOp<"set_flag", "set_flag"> { let summary = "raises a flag when the source pipe is done so far"; }
def WaitFlagOp : FlagOp<"wait_flag", "wait_flag"> { let summary = "makes the destination pipe wait for a flag"; }

class DynFlagOp<string mnemonic, string call> : PTO_Op<mnemonic> {
  let summary = "a flag whose number is known at run time";
  let arguments = (ins IndexValue:$event_id, PTO_PipeAttr:$src_pipe, PTO_PipeAttr:$dst_pipe);
  let hasCustomAssemblyFormat = 1;
  let cpp = call # "($src_pipe, $dst_pipe, (event_t)$event_id)";
  let rule = "flag";
}
def SetFlagDynOp : DynFlagOp<"set_flag_dyn", "set_flag">;
def WaitFlagDynOp : DynFlagOp<"wait_flag_dyn", "wait_flag">;

def BarrierOp : PTO_Op<"barrier"> {
  let summary = "waits until a pipe, or all of them, is empty";
  let arguments = (ins PTO_PipeAttr:$pipe);
  let hasCustomAssemblyFormat = 1;
  let cpp = "pipe_barrier($pipe)";
}

// `pto.barrier_sync[<TLOAD>]`; the element in every spelling of `record_event`.
def BarrierSyncOp : PTO_Op<"barrier_sync"> {
  let summary = "waits until the pipe of a kind of operation is empty";
  let arguments = (ins PTO_PipeEventTypeAttr:$op_type);
  let hasCustomAssemblyFormat = 1;
}

class SyncEventOp<string mnemonic> : PTO_Op<mnemonic> {
  let arguments = (ins PTO_PipeEventTypeAttr:$src_op, PTO_PipeEventTypeAttr:$dst_op, PTO_EventAttr:$event_id);
  let hasCustomAssemblyFormat = 1;
}
def RecordEventOp : SyncEventOp<"record_event"> { let summary = "set_flag between the pipes of two kinds of operation"; }
def WaitEventOp : SyncEventOp<"wait_event"> { let summary = "wait_flag between the pipes of two kinds of operation"; }

def TSyncOp : PTO_Op<"tsync"> {
  let summary = "waits until everything that touches the operands is done";
  let arguments = (ins Variadic<PTO_Operand<"memory", "none", PTO_IsTileOrView, "tile or tensor view">>:$events);
  let assemblyFormat = "`ins` `(` $events `:` type($events) `)` attr-dict";
  let cpp = "pipe_barrier(PIPE_ALL)";
}

//===----------------------------------------------------------------------===//
// Event ids in an array
//===----------------------------------------------------------------------===//

def DeclareEventIdArrayOp : PTO_Op<"declare_eventid_array"> {
  let summary = "an array of event ids on the core's stack";
  let results = (outs EventIdArray:$array);
  let assemblyFormat = "attr-dict `->` type($array)";
}
def EventIdArrayGetOp : PTO_Op<"eventid_array_get"> {
  let summary = "reads an event id";
  let arguments = (ins EventIdArray:$array, IndexValue:$index);
  let results = (outs IndexValue:$result);
  let assemblyFormat = "$array `[` $index `]` attr-dict `:` type($array)";
  let rule = "eventid_array";
}
def EventIdArraySetOp : PTO_Op<"eventid_array_set"> {
  let summary = "writes an event id";
  let arguments = (ins EventIdArray:$array, IndexValue:$index, IndexValue:$value);
  let assemblyFormat = "$array `[` $index `]` `,` $value attr-dict `:` type($array)";
  let rule = "eventid_array";
}

//===----------------------------------------------------------------------===//
// Buffer tokens (A5): operations of several pipes between get and release of one token run in program order
//===----------------------------------------------------------------------===//

// `pto.get_buf "PIPE_V", 3, 0`, `pto.get_buf[#pto.pipe_event_type<TVEC>, 3]`; the last number, the mode, may be left out.
class BufOp<string mnemonic> : PTO_Op<mnemonic> {
  let arguments = (ins PTO_PipeLikeAttr:$op_type, I32Attr:$buf_id, DefaultValuedAttr<I32Attr, "0">:$mode);
  let hasCustomAssemblyFormat = 1;
  let rule = "buf";
  let a3 = "-";
}
def GetBufOp : BufOp<"get_buf"> { let summary = "a pipe waits for its turn at a token"; }
def RlsBufOp : BufOp<"rls_buf"> { let summary = "a pipe hands a token on"; }

class BufDynOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "a token whose number is known at run time";
  let arguments = (ins IndexValue:$buf_id, PTO_PipeLikeAttr:$op_type, DefaultValuedAttr<I32Attr, "0">:$mode);
  let hasCustomAssemblyFormat = 1;
  let rule = "buf";
  let a3 = "-";
}
def GetBufDynOp : BufDynOp<"get_buf_dyn">;
def RlsBufDynOp : BufDynOp<"rls_buf_dyn">;

//===----------------------------------------------------------------------===//
// Flags between cores: `pto.sync.set <PIPE_MTE3>, 3`, or an index value for the number
//===----------------------------------------------------------------------===//

class CrossCoreOp<string mnemonic, dag mode> : PTO_Op<mnemonic> {
  let arguments = !con((ins Optional<IndexValue>:$event_id_dyn, PTO_PipeAttr:$pipe, OptionalAttr<I32Attr>:$event_id), mode);
  let hasCustomAssemblyFormat = 1;
  let rule = "cross_core";
}
def SyncSetOp : CrossCoreOp<"sync.set", (ins OptionalAttr<I32Attr>:$ffts_mode)> {
  let summary = "raises a flag for other cores when a pipe is done so far; mode 0 all cores of a kind, 1 the vector cores of a block, 2 (default) cube and vector cores of a block";
}
def SyncWaitOp : CrossCoreOp<"sync.wait", (ins OptionalAttr<I32Attr>:$ffts_mode)> { let summary = "waits for a flag of other cores"; }
def SetCrossBlockOp : CrossCoreOp<"set_cross_block", (ins OptionalAttr<I32Attr>:$ffts_mode)> {
  let summary = "raises a flag for the cores of all blocks";
}
def WaitCrossBlockOp : CrossCoreOp<"wait_cross_block", (ins)> { let summary = "waits for a flag of the cores of all blocks"; }
def SetIntraBlockOp : CrossCoreOp<"set_intra_block", (ins)> { let summary = "raises a flag for the other cores of the block"; }
def WaitIntraBlockOp : CrossCoreOp<"wait_intra_block", (ins)> { let summary = "waits for a flag of the other cores of the block"; }

def FenceBarrierAllOp : PTO_Op<"fence.barrier_all"> {
  let summary = "orders memory accesses of all pipes";
  let arguments = (ins PTO_Spelled<PTO_FenceScopeAttr>:$scope);
  let assemblyFormat = "$scope attr-dict";
}

def CmoCacheInvalidOp : PTO_Op<"cmo.cacheinvalid"> {
  let summary = "drops cached copies of global memory: all of them, or one line";
  let arguments = (ins Optional<AnyValue>:$addr, PTO_AddressSpaceAttr:$space);
  let hasCustomAssemblyFormat = 1;
  let rule = "cache_line";
}

def SyncAllOp : PTO_Op<"syncall", [AttrSizedOperandSegments]> {
  let summary = "all cores meet";
  let arguments = (ins Optional<AnyValue>:$gm_workspace, Optional<I32Value>:$used_cores, PTO_Spelled<PTO_SyncAllModeAttr>:$mode,
                       PTO_Spelled<PTO_SyncCoreTypeAttr>:$core_type);
  let assemblyFormat = [{
    `(` ($gm_workspace^ (`,` $used_cores^)? `:` type($gm_workspace) (`,` type($used_cores)^)?)? `)`
    `mode` `=` $mode `,` `core_type` `=` $core_type attr-dict
  }];
  let rule = "syncall";
}

class CoreQueryOp<string mnemonic, string call> : PTO_Op<mnemonic, [Pure]> {
  let summary = "which core runs, or how many do";
  let results = (outs I64Value:$result);
  let assemblyFormat = "attr-dict";
  let cpp = call # "()";
}
def GetBlockIdxOp : CoreQueryOp<"get_block_idx", "get_block_idx">;
def GetBlockNumOp : CoreQueryOp<"get_block_num", "get_block_num">;
def GetSubBlockIdxOp : CoreQueryOp<"get_subblock_idx", "get_subblockid">;
def GetSubBlockNumOp : CoreQueryOp<"get_subblock_num", "get_subblockdim">;

def FlushScalarStoresOp : PTO_Op<"flush_scalar_stores"> {
  let summary = "makes scalar stores to global memory visible to others";
  let assemblyFormat = "attr-dict";
  let cpp = "dcci((__gm__ void*)0, cache_line_t::ENTIRE_DATA_CACHE); dsb((mem_dsb_t)0)";
}

def SetFftsOp : PTO_Op<"set_ffts"> {
  let summary = "where cross-core flags stand in global memory (A2/A3)";
  let arguments = (ins PtrRef:$ffts);
  let assemblyFormat = "$ffts attr-dict `:` type($ffts)";
  let cpp = "set_ffts_base_addr((uint64_t)$ffts)";
}

def TrapOp : PTO_Op<"trap"> { let summary = "stops the core"; let assemblyFormat = "attr-dict"; let cpp = "trap()"; }

class SectionOp<string mnemonic> : PTO_Op<mnemonic, [SingleBlock, NoTerminator]> {
  let summary = "code for one kind of core";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def SectionCubeOp : SectionOp<"section.cube">;
def SectionVectorOp : SectionOp<"section.vector">;

def SectionSimtOp : PTO_Op<"section.simt", [SingleBlock, NoTerminator]> {
  let summary = "code that many threads of a vector core run; read and checked, without C++ form";
  let arguments = (ins I32Attr:$dimX, I32Attr:$dimY, I32Attr:$dimZ);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`<` `<` `<` $dimX `,` $dimY `,` $dimZ `>` `>` `>` $body attr-dict";
  let rule = "section_simt";
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def PrintOp : PTO_Op<"print"> {
  let summary = "prints a scalar with a format";
  let arguments = (ins Scalar:$scalar, StrAttr:$format);
  let assemblyFormat = "`ins` `(` $format `,` $scalar `:` type($scalar) `)` attr-dict";
  let pipe = "PIPE_S";
}

#endif // PTO_SYNC_TD
