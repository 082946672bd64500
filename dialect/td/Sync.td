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

class SyncEventOp<string mnemonic> : PTO_Op<mnemonic> {
  let arguments = (ins PTO_PipeEventTypeAttr:$src_op, PTO_PipeEventTypeAttr:$dst_op, PTO_EventAttr:$event_id);
  let hasCustomAssemblyFormat = 1;
}
def RecordEventOp : SyncEventOp<"record_event"> { let summary = "set_flag between the pipes of two kinds of operation"; }
def WaitEventOp : SyncEventOp<"wait_event"> { let summary = "wait_flag between the pipes of two kinds of operation"; }

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
