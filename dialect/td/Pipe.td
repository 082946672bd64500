//===- Pipe.td - queues between cube and vector cores, reserved buffers -*- tablegen -*-===//

#ifndef PTO_PIPE_TD
#define PTO_PIPE_TD

include "Base.td"
include "Enums.td"

def PTO_SlotView : PTO_Operand<"view", "none", CPred<"::llvm::isa<::pto::TensorViewType>($_self)">, "tensor view">;
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
      OptionalAttr<I32Attr>:$local_slot_num, OptionalAttr<BoolAttr>:$nosplit,
      OptionalAttr<PTO_AccPushEpilogueAttr>:$acc_push_epilogue);
  let hasCustomAssemblyFormat = 1;
  let rule = "initialize_pipe stated_attributes";
}
def AicInitializePipeOp : InitializePipeOp<"aic_initialize_pipe"> { let summary = "the cube core's end of a queue"; }
def AivInitializePipeOp : InitializePipeOp<"aiv_initialize_pipe"> { let summary = "the vector core's end of a queue"; }

class PushToOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "sends a tile to the other core";
  let arguments = (ins MemIn:$tile, Optional<I64Value>:$aiv_subblockid, DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let hasCustomAssemblyFormat = 1;
  let rule = "transfer stated_attributes";
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
  let rule = "pop_from transfer stated_attributes";
  let pipe = "tpop";
}
def TPopFromAicOp : PopFromOp<"tpop_from_aic">;
def TPopFromAivOp : PopFromOp<"tpop_from_aiv">;

class FreeFromOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "gives a slot back to the core that filled it";
  let arguments = (ins Optional<PTO_PipeEntry>:$entry, DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let hasCustomAssemblyFormat = 1;
  let rule = "transfer stated_attributes";
  let pipe = "PIPE_S";
}
def TFreeFromAicOp : FreeFromOp<"tfree_from_aic">;
def TFreeFromAivOp : FreeFromOp<"tfree_from_aiv">;

class AllocToOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "the next free slot of a queue in global memory, to be filled and pushed";
  let arguments = (ins DefaultValuedAttr<I32Attr, "0">:$id, I8Attr:$split);
  let results = (outs PTO_SlotView:$entry);
  let hasCustomAssemblyFormat = 1;
  let rule = "transfer stated_attributes";
}
def TAllocToAivOp : AllocToOp<"talloc_to_aiv">;
def TAllocToAicOp : AllocToOp<"talloc_to_aic">;

// The scale of pushes through a queue with an epilogue, from here on; the words of a scaling tile for each column.
def SetQuantScalarOp : PTO_Op<"set_quant_scalar"> {
  let summary = "one scale for all that later pushes through a queue send";
  let arguments = (ins F32Value:$scale, DefaultValuedAttr<I32Attr, "0">:$id);
  let hasCustomAssemblyFormat = 1;
  let rule = "stated_attributes";
}
def SetQuantVectorOp : PTO_Op<"set_quant_vector"> {
  let summary = "a scale for each column of what later pushes through a queue send";
  let arguments = (ins TileRef:$scaling_tile, DefaultValuedAttr<I32Attr, "0">:$id);
  let hasCustomAssemblyFormat = 1;
  let rule = "set_quant_vector stated_attributes";
}

//===----------------------------------------------------------------------===//
// Queue handles (what `pto-lower-frontend-pipes` produces)
//===----------------------------------------------------------------------===//

def InitializeL2G2LPipeOp : PTO_Op<"initialize_l2g2l_pipe", [AttrSizedOperandSegments]> {
  let summary = "a queue whose slots stand in global memory";
  let arguments = (ins AnyValue:$gm_addr, Optional<I32Value>:$local_addr, Optional<I32Value>:$peer_local_addr,
      I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$local_slot_num,
      OptionalAttr<I32Attr>:$flag_base, OptionalAttr<BoolAttr>:$nosplit,
      OptionalAttr<PTO_AccPushEpilogueAttr>:$acc_push_epilogue);
  let results = (outs PipeRef:$pipe);
  let rule = "pipe_shape";
  let assemblyFormat = [{
    custom<PipeShape>($dir_mask, $slot_size, $slot_num, $flag_base, $nosplit, $local_slot_num)
    `(` $gm_addr `:` type($gm_addr) (`,` $local_addr^ `:` type($local_addr))?
        (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)` attr-dict `->` type($pipe)
  }];
}

def InitializeL2LPipeOp : PTO_Op<"initialize_l2l_pipe"> {
  let summary = "a queue whose slots stand in the consumer's local memory";
  let arguments = (ins I32Value:$local_addr, Optional<I32Value>:$peer_local_addr,
      I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$flag_base,
      OptionalAttr<BoolAttr>:$nosplit, OptionalAttr<PTO_AccPushEpilogueAttr>:$acc_push_epilogue);
  let results = (outs PipeRef:$pipe);
  let rule = "pipe_shape";
  let assemblyFormat = [{
    custom<PipeShape>($dir_mask, $slot_size, $slot_num, $flag_base, $nosplit)
    `(` $local_addr `:` type($local_addr) (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)` attr-dict `->` type($pipe)
  }];
}

class PipeTransferOp<string mnemonic, dag entry> : PTO_Op<mnemonic> {
  let arguments = !con(entry, (ins PipeRef:$pipe_handle, Optional<I64Value>:$aiv_subblockid, I8Attr:$split));
  let assemblyFormat = [{
    `(` $tile `,` $pipe_handle `:` type($tile) `,` type($pipe_handle) `)` `{` `split` `=` $split `}`
        (`aiv_subblockid` `(` $aiv_subblockid^ `)`)? attr-dict
  }];
  let rule = "handle transfer";
}
def TPushOp : PipeTransferOp<"tpush", (ins MemIn:$tile)> { let summary = "sends a tile through a queue"; let pipe = "tpush"; }
def TPopOp : PipeTransferOp<"tpop", (ins MemOut:$tile)> { let summary = "receives a tile from a queue"; let pipe = "tpop"; }

// A push from the accumulator with the scale that its queue's epilogue takes; `out` is what the slot holds.
def TPushQuantOp : PTO_Op<"tpush_quant", [AttrSizedOperandSegments]> {
  let summary = "sends a tile through a queue that scales it";
  let arguments = (ins TileIn:$tile, Optional<F32Value>:$scale, Optional<TileIn>:$scaling_tile, PipeRef:$pipe_handle,
      TypeAttr:$out);
  let assemblyFormat = [{
    `(` $tile `,` $pipe_handle `:` type($tile) `,` type($pipe_handle) `)` (`scale` `(` $scale^ `:` type($scale) `)`)?
        (`scaling_tile` `(` $scaling_tile^ `:` type($scaling_tile) `)`)? `->` $out attr-dict
  }];
  let pipe = "tpush";
  let rule = "tpush_quant";
}

// With the entry, where it is a tensor view: its slot goes back.
def TFreeOp : PTO_Op<"tfree"> {
  let summary = "gives the oldest slot of a queue back";
  let arguments = (ins Optional<PTO_PipeEntry>:$entry, PipeRef:$pipe_handle, I8Attr:$split);
  let hasCustomAssemblyFormat = 1;
  let rule = "handle transfer";
  let pipe = "PIPE_S";
}

def TAllocOp : PTO_Op<"talloc"> {
  let summary = "binds an entry to the next free slot of a queue";
  let arguments = (ins PTO_SlotView:$entry, PipeRef:$pipe_handle, I8Attr:$split);
  let assemblyFormat = [{
    `(` $entry `,` $pipe_handle `:` type($entry) `,` type($pipe_handle) `)` `{` `split` `=` $split `}` attr-dict
  }];
  let rule = "handle transfer";
}

// Strides in elements, as many as dimensions; without them the tensor is dense.
def DeclareGlobalOp : PTO_Op<"declare_global"> {
  let summary = "a tensor in global memory whose address a queue sets";
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs PTO_SlotView:$entry);
  let assemblyFormat = "attr-dict `->` type($entry)";
  let rule = "declare_global";
}

#endif // PTO_PIPE_TD
