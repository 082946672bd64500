//===- Pipe.td - queues between cube and vector cores, reserved buffers -*- tablegen -*-===//

#ifndef PTO_PIPE_TD
#define PTO_PIPE_TD

include "Base.td"
include "Enums.td"

def PTO_PipeEntry : PTO_Operand<"memory", "none", PTO_IsTileOrView, "tile or tensor view">;

//===----------------------------------------------------------------------===//
// Reserved buffers
//===----------------------------------------------------------------------===//

def ReserveBufferOp : PTO_Op<"reserve_buffer"> {
  let summary = "keeps bytes of a memory space for the local end of a queue; the result is their address";
  let description = [{
    `auto = true` lets the allocation pass choose `base`; `auto = false` states it.

    ```mlir
    %b = pto.reserve_buffer {name = "c2v", size = 65536, location = #pto.address_space<vec>, auto = true} -> i32
    ```
  }];
  let arguments = (ins StrAttr:$name, I32Attr:$size, PTO_Spelled<PTO_AddressSpaceAttr>:$space, BoolAttr:$autoAlloc,
                       OptionalAttr<I32Attr>:$base);
  let results = (outs I32Value:$addr);
  let assemblyFormat = [{
    ` ` `{` `name` `=` $name `,` `size` `=` $size `,` `location` `=` $space `,` `auto` `=` $autoAlloc
        (`,` `base` `=` $base^)? `}` attr-dict `->` type($addr)
  }];
  let rule = "reserve_buffer";
}

def ImportReservedBufferOp : PTO_Op<"import_reserved_buffer"> {
  let summary = "the address of a buffer that the peer function reserves";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$peer_func);
  let results = (outs I32Value:$addr);
  let assemblyFormat = "` ` `{` `name` `=` $name `,` `peer_func` `=` $peer_func `}` attr-dict `->` type($addr)";
}

//===----------------------------------------------------------------------===//
// The front-end's queue operations, named by direction and id
//===----------------------------------------------------------------------===//

class InitializePipeOp<string mnemonic> : PTO_Op<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins Optional<PtrRef>:$gm_slot_buffer, Optional<ViewRef>:$gm_slot_tensor,
      Optional<I32Value>:$c2v_consumer_buf, Optional<I32Value>:$v2c_consumer_buf,
      DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$dir_mask, I32Attr:$slot_size, OptionalAttr<I32Attr>:$slot_num,
      OptionalAttr<I32Attr>:$local_slot_num, OptionalAttr<BoolAttr>:$nosplit);
  let hasCustomAssemblyFormat = 1;
  let rule = "initialize_pipe";
}
def AicInitializePipeOp : InitializePipeOp<"aic_initialize_pipe"> { let summary = "the cube core's end of a queue"; }
def AivInitializePipeOp : InitializePipeOp<"aiv_initialize_pipe"> { let summary = "the vector core's end of a queue"; }

class PushToOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "sends a tile to the other core";
  let arguments = (ins MemIn:$tile, Optional<I64Value>:$aiv_subblockid, DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let hasCustomAssemblyFormat = 1;
  let pipe = "tpush";
}
def TPushToAivOp : PushToOp<"tpush_to_aiv">;
def TPushToAicOp : PushToOp<"tpush_to_aic">;

class PopFromOp<string mnemonic> : PTO_Op<mnemonic, [AttrSizedOperandSegments]> {
  let summary = "receives a tile from the other core";
  let arguments = (ins Optional<IndexValue>:$valid_row, Optional<IndexValue>:$valid_col,
      Optional<I64Value>:$aiv_subblockid, DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let results = (outs PTO_PipeEntry:$tile);
  let hasCustomAssemblyFormat = 1;
  let pipe = "tpop";
}
def TPopFromAicOp : PopFromOp<"tpop_from_aic">;
def TPopFromAivOp : PopFromOp<"tpop_from_aiv">;

class FreeFromOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "gives a slot back to the core that filled it";
  let arguments = (ins Optional<PTO_PipeEntry>:$entry, DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let hasCustomAssemblyFormat = 1;
  let pipe = "PIPE_S";
}
def TFreeFromAicOp : FreeFromOp<"tfree_from_aic">;
def TFreeFromAivOp : FreeFromOp<"tfree_from_aiv">;

//===----------------------------------------------------------------------===//
// Queue handles (what `pto-lower-frontend-pipes` produces)
//===----------------------------------------------------------------------===//

def InitializeL2G2LPipeOp : PTO_Op<"initialize_l2g2l_pipe", [AttrSizedOperandSegments]> {
  let summary = "a queue whose slots stand in global memory";
  let arguments = (ins AnyValue:$gm_addr, Optional<I32Value>:$local_addr, Optional<I32Value>:$peer_local_addr,
      I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$local_slot_num,
      OptionalAttr<I32Attr>:$flag_base, OptionalAttr<BoolAttr>:$nosplit);
  let results = (outs PipeRef:$pipe);
  let assemblyFormat = [{
    ` ` `{` `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size `,` `slot_num` `=` $slot_num
        (`,` `local_slot_num` `=` $local_slot_num^)? (`,` `flag_base` `=` $flag_base^)? (`,` `nosplit` `=` $nosplit^)? `}`
    `(` $gm_addr `:` type($gm_addr) (`,` $local_addr^ `:` type($local_addr))?
        (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)` attr-dict `->` type($pipe)
  }];
}

def InitializeL2LPipeOp : PTO_Op<"initialize_l2l_pipe"> {
  let summary = "a queue whose slots stand in the consumer's local memory";
  let arguments = (ins I32Value:$local_addr, Optional<I32Value>:$peer_local_addr,
      I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$flag_base,
      OptionalAttr<BoolAttr>:$nosplit);
  let results = (outs PipeRef:$pipe);
  let assemblyFormat = [{
    ` ` `{` `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size `,` `slot_num` `=` $slot_num
        (`,` `flag_base` `=` $flag_base^)? (`,` `nosplit` `=` $nosplit^)? `}`
    `(` $local_addr `:` type($local_addr) (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)` attr-dict `->` type($pipe)
  }];
}

class PipeTransferOp<string mnemonic, dag entry> : PTO_Op<mnemonic> {
  let arguments = !con(entry, (ins PipeRef:$pipe_handle, Optional<I64Value>:$aiv_subblockid, I8Attr:$split));
  let assemblyFormat = [{
    `(` $tile `,` $pipe_handle `:` type($tile) `,` type($pipe_handle) `)` `{` `split` `=` $split `}`
        (`aiv_subblockid` `(` $aiv_subblockid^ `)`)? attr-dict
  }];
}
def TPushOp : PipeTransferOp<"tpush", (ins MemIn:$tile)> { let summary = "sends a tile through a queue"; let pipe = "tpush"; }
def TPopOp : PipeTransferOp<"tpop", (ins MemOut:$tile)> { let summary = "receives a tile from a queue"; let pipe = "tpop"; }

def TFreeOp : PTO_Op<"tfree"> {
  let summary = "gives the oldest slot of a queue back";
  let arguments = (ins PipeRef:$pipe_handle, I8Attr:$split);
  let assemblyFormat = "`(` $pipe_handle `:` type($pipe_handle) `)` `{` `split` `=` $split `}` attr-dict";
  let pipe = "PIPE_S";
}

#endif // PTO_PIPE_TD
