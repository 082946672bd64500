//===- Types.td - the types of the dialect -*- tablegen -*-===//
//
// The textual grammar of each type is in `cpp/Types.cpp`; what it accepts is described here.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TYPES_TD
#define PTO_TYPES_TD

include "Base.td"
include "Enums.td"

class PTO_Type<string name, string mnemonic_> : TypeDef<Pto_Dialect, name> {
  let mnemonic = mnemonic_;
}
class PTO_ShapedType<string name, string mnemonic_> : PTO_Type<name, mnemonic_> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def PTO_PtrType : PTO_Type<"Ptr", "ptr"> {
  let summary = "pointer into a memory space: `!pto.ptr<f32>` (global memory), `!pto.ptr<f32, ub>`";
  let parameters = (ins "::mlir::Type":$elementType, "::pto::AddressSpace":$space);
  let hasCustomAssemblyFormat = 1;
}

def PTO_TensorViewType : PTO_ShapedType<"TensorView", "tensor_view"> {
  let summary = "a tensor in global memory, rank 1 to 5: `!pto.tensor_view<16x?xf32>`";
}

def PTO_PartitionTensorViewType : PTO_ShapedType<"PartitionTensorView", "partition_tensor_view"> {
  let summary = "a window of a tensor in global memory, rank 1 to 5: `!pto.partition_tensor_view<16x64xf32>`";
}

def PTO_TileBufType : PTO_Type<"TileBuf", "tile_buf"> {
  let summary = "a two-dimensional tile in an on-chip memory";
  let description = [{
    Compact form (printed): `!pto.tile_buf<vec, 16x64xf32, valid=16x?, blayout=col_major, slayout=row_major,
    fractal=1024, pad=2, compact=1>`; after the shape, keys in any order, only what differs from the default is
    printed. Long form: `!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=?, blayout=row_major,
    slayout=none_box, fractal=512, pad=0, compact=0>`. Rows and columns are elements. A valid extent that is only
    known at run time is `?` (or `-1` in the long form).
  }];
  let parameters = (ins
    "::pto::AddressSpace":$space, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
    "int64_t":$validRows, "int64_t":$validCols, "::pto::BLayout":$blayout, "::pto::SLayout":$slayout,
    "int64_t":$fractal, "::pto::PadValue":$pad, "::pto::CompactMode":$compact);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PTO_MultiTileBufType : PTO_Type<"MultiTileBuf", "multi_tile_buf"> {
  let summary = "2 to 16 tiles of one type, used in turn: `!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>`";
  let parameters = (ins "::pto::TileBufType":$slot, "int64_t":$count);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PTO_PipeType : PTO_Type<"Pipe", "pipe"> { let summary = "a first-in first-out queue between cube and vector cores"; }

def PTO_LocalArrayType : PTO_ShapedType<"LocalArray", "local_array"> {
  let summary = "an array of scalars on the core's stack: `!pto.local_array<2x3xi32>`";
}
def PTO_EventIdArrayType : PTO_Type<"EventIdArray", "eventid_array"> {
  let summary = "an array of event ids on the core's stack: `!pto.eventid_array<4>`";
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
}
def PTO_StructType : PTO_Type<"Struct", "struct"> {
  let summary = "a record of scalars on the core's stack: `!pto.struct<i32, !pto.struct<f16, f32>>`";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$fields);
  let assemblyFormat = "`<` $fields `>`";
  let genVerifyDecl = 1;
}
def PTO_AsyncSessionType : PTO_Type<"AsyncSession", "async_session"> { let summary = "a session of asynchronous copies"; }
def PTO_AsyncEventType : PTO_Type<"AsyncEvent", "async_event"> { let summary = "the completion of an asynchronous copy"; }
def PTO_PrefetchAsyncContextType : PTO_Type<"PrefetchAsyncContext", "prefetch_async_context"> {
  let summary = "the context of asynchronous prefetches";
}

// Element types that MLIR does not have. `bytes` of storage for `values` elements.
class PTO_LowPrecisionType<string name, string mnemonic_, int bytes_, int values_> : PTO_Type<name, mnemonic_> {
  let summary = "low-precision element type";
  int bytes = bytes_;
  int values = values_;
}
def PTO_HiF8Type : PTO_LowPrecisionType<"HiF8", "hif8", 1, 1>;
def PTO_F8E8M0Type : PTO_LowPrecisionType<"F8E8M0", "f8E8M0", 1, 1>;
def PTO_HiF8x2Type : PTO_LowPrecisionType<"HiF8x2", "hif8x2", 2, 2>;
def PTO_F4E1M2x2Type : PTO_LowPrecisionType<"F4E1M2x2", "f4E1M2x2", 1, 2>;
def PTO_F4E2M1x2Type : PTO_LowPrecisionType<"F4E2M1x2", "f4E2M1x2", 1, 2>;
def PTO_BF16x2Type : PTO_LowPrecisionType<"BF16x2", "bf16x2", 4, 2>;

#endif // PTO_TYPES_TD
