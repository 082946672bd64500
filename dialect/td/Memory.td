//===- Memory.td - tiles, views, pointers and scalar memory -*- tablegen -*-===//

#ifndef PTO_MEMORY_TD
#define PTO_MEMORY_TD

include "Base.td"
include "Enums.td"

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def AllocTileOp : PTO_Op<"alloc_tile", [AttrSizedOperandSegments]> {
  let summary = "names a tile and, once placed, its address";
  let description = [{
    `addr` is the byte address within the tile's memory space. Without it the allocation pass chooses one. A valid
    extent that the type leaves open (`?`) is given as an operand.

    ```mlir
    %t = pto.alloc_tile addr = %c0_i64 valid_row = %n : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
    ```
  }];
  let arguments = (ins Optional<I64Value>:$addr, Optional<IndexValue>:$valid_row, Optional<IndexValue>:$valid_col);
  let results = (outs TileResult:$result);
  let hasCustomAssemblyFormat = 1;
  let rule = "alloc_tile";
}

def AllocMultiTileOp : PTO_Op<"alloc_multi_tile", [AttrSizedOperandSegments]> {
  let summary = "names the slots of a multi tile; slot i stands at addr + i * slot stride";
  let arguments = (ins Optional<I64Value>:$addr, Optional<IndexValue>:$valid_row, Optional<IndexValue>:$valid_col);
  let results = (outs MultiTile:$result);
  let assemblyFormat = "(`addr` `=` $addr^)? (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `:` type($result)";
  let rule = "alloc_multi_tile";
}

def MultiTileGetOp : PTO_Op<"multi_tile_get"> {
  let summary = "one slot of a multi tile";
  let arguments = (ins MultiTile:$source, IndexValue:$slot);
  let results = (outs TileResult:$result);
  let assemblyFormat = "$source `[` $slot `]` attr-dict `:` type($source) `->` type($result)";
  let rule = "multi_tile_get";
}

def DeclareTileOp : PTO_Op<"declare_tile", [AttrSizedOperandSegments]> {
  let summary = "names a tile whose address is set at run time, by the pop that fills it";
  let arguments = (ins Optional<IndexValue>:$valid_row, Optional<IndexValue>:$valid_col);
  let results = (outs TileResult:$tile);
  let assemblyFormat = "(`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `->` type($tile)";
  let rule = "declare_tile";
}

def SubviewOp : PTO_Op<"subview", [AttrSizedOperandSegments]> {
  let summary = "a window of a tile, at a row and a column";
  let description = [{
    The window shares its parent's bytes. `addr` is what the allocation pass writes: the window's own byte address
    (its root's address plus the window's offset), when both are known.

    ```mlir
    %w = pto.subview %t[%r, %c] sizes [8, 64] valid [%vr, %vc] : !pto.tile_buf<vec, 16x64xf32>
           -> !pto.tile_buf<vec, 8x64xf32, valid=?x?>
    ```
  }];
  let arguments = (ins TileRef:$source, Variadic<IndexValue>:$offsets, Optional<IndexValue>:$valid_row,
                       Optional<IndexValue>:$valid_col, Optional<I64Value>:$addr, I64ArrayAttr:$sizes);
  let results = (outs TileResult:$result);
  let hasCustomAssemblyFormat = 1;
  let rule = "subview";
}

def TileAddrOp : PTO_Op<"tile_addr", [Pure]> {
  let summary = "the byte address of a tile that was placed at run time";
  let arguments = (ins TileRef:$src);
  let results = (outs I64Value:$addr);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

class TileCastOp<string mnemonic> : PTO_Op<mnemonic> {
  let arguments = (ins TileRef:$src);
  let results = (outs TileResult:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let rule = "tile_cast";
}
def BitcastOp : TileCastOp<"bitcast"> { let summary = "the same bytes with another element type"; }
def TReshapeOp : TileCastOp<"treshape"> { let summary = "the same bytes with another shape"; }

def TAssignOp : PTO_Op<"tassign"> {
  let summary = "gives a tile another address, known at run time";
  let arguments = (ins TileRef:$tile, I64Value:$addr);
  let results = (outs TileResult:$result);
  let assemblyFormat = "$tile `,` $addr attr-dict `:` type($tile) `->` type($result)";
}

def SetValidShapeOp : PTO_Op<"set_validshape"> {
  let summary = "sets the valid rows and columns of a tile whose type leaves them open";
  let arguments = (ins TileRef:$source, IndexValue:$valid_row, IndexValue:$valid_col);
  let assemblyFormat = "$source `,` $valid_row `,` $valid_col attr-dict `:` type($source)";
  let cpp = "$source.SetValidShape($valid_row, $valid_col)";
  let rule = "set_validshape";
  let pipe = "PIPE_S";
}

def GetValidShapeOp : PTO_Op<"get_validshape"> {
  let summary = "the valid rows and columns of a tile";
  let arguments = (ins TileRef:$source);
  let results = (outs IndexValue:$valid_row, IndexValue:$valid_col);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

class TileValidOp<string mnemonic> : PTO_Op<mnemonic> {
  let summary = "one valid extent of a tile";
  let arguments = (ins TileRef:$src);
  let results = (outs IndexValue:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}
def TileValidRowsOp : TileValidOp<"tile_valid_rows">;
def TileValidColsOp : TileValidOp<"tile_valid_cols">;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def MakeTensorViewOp : PTO_Op<"make_tensor_view", [AttrSizedOperandSegments, Pure]> {
  let summary = "a tensor at a pointer, with shape and strides in elements";
  let arguments = (ins PtrRef:$ptr, Variadic<IndexValue>:$shape, Variadic<IndexValue>:$strides,
                       OptionalAttr<PTO_LayoutAttr>:$layout);
  let results = (outs ViewRef:$result);
  let hasCustomAssemblyFormat = 1;
  let rule = "make_tensor_view";
}

def PartitionViewOp : PTO_Op<"partition_view", [AttrSizedOperandSegments, Pure]> {
  let summary = "a window of a tensor; offsets and sizes in elements";
  let arguments = (ins ViewRef:$source, Variadic<IndexValue>:$offsets, Variadic<IndexValue>:$sizes);
  let results = (outs ViewRef:$result);
  let hasCustomAssemblyFormat = 1;
  let rule = "partition_view";
}

class TensorViewQueryOp<string mnemonic> : PTO_Op<mnemonic, [Pure]> {
  let arguments = (ins ViewRef:$tensor_view, IndexValue:$dim_index);
  let results = (outs IndexValue:$result);
  let assemblyFormat = "$tensor_view `,` $dim_index `:` type($tensor_view) `->` type($result) attr-dict";
}
def GetTensorViewDimOp : TensorViewQueryOp<"get_tensor_view_dim"> { let summary = "one extent of a tensor view"; }
def GetTensorViewStrideOp : TensorViewQueryOp<"get_tensor_view_stride"> { let summary = "one stride of a tensor view"; }

def AddPtrOp : PTO_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "a pointer moved by a number of elements";
  let arguments = (ins PtrRef:$ptr, IndexValue:$offset);
  let results = (outs PtrRef:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` custom<Ptr>(type($ptr)) `->` custom<Ptr>(type($result))";
}

def CastPtrOp : PTO_Op<"castptr", [Pure]> {
  let summary = "a pointer or an integer as a pointer of another type";
  let arguments = (ins AnyValue:$input);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def PtrToIntOp : PTO_Op<"ptrtoint", [Pure]> {
  let summary = "the byte address behind a pointer";
  let arguments = (ins PtrRef:$ptr);
  let results = (outs I64Value:$result);
  let assemblyFormat = "$ptr attr-dict `:` custom<Ptr>(type($ptr)) `->` type($result)";
}
// Only the scalar accesses may use it, as their pointer: nobody knows what the memory behind an address belongs to.
def IntToPtrOp : PTO_Op<"inttoptr", [Pure]> {
  let summary = "a pointer to a byte address";
  let arguments = (ins I64Value:$addr);
  let results = (outs PtrRef:$result);
  let assemblyFormat = "$addr attr-dict `:` type($addr) `->` custom<Ptr>(type($result))";
  let rule = "inttoptr";
}

def LoadScalarOp : PTO_Op<"load_scalar"> {
  let summary = "reads one element; the offset counts elements";
  let arguments = (ins PtrIn:$ptr, IndexValue:$offset);
  let results = (outs Scalar:$value);
  let assemblyFormat = "$ptr `[` $offset `]` attr-dict `:` custom<Ptr>(type($ptr)) `->` type($value)";
  let pipe = "PIPE_S";
  let rule = "scalar_access";
}

def StoreScalarOp : PTO_Op<"store_scalar"> {
  let summary = "writes one element; the offset counts elements";
  let arguments = (ins PtrOut:$ptr, IndexValue:$offset, Scalar:$value);
  let assemblyFormat = "$value `,` $ptr `[` $offset `]` attr-dict `:` custom<Ptr>(type($ptr)) `,` type($value)";
  let pipe = "PIPE_S";
  let rule = "scalar_access";
}

//===----------------------------------------------------------------------===//
// Arrays on the core's stack
//===----------------------------------------------------------------------===//

def PTO_LocalArray : PTO_Operand<"any", "none", CPred<"::llvm::isa<::pto::LocalArrayType>($_self)">, "local array">;

def DeclareLocalArrayOp : PTO_Op<"declare_local_array"> {
  let summary = "an array of scalars on the core's stack";
  let results = (outs PTO_LocalArray:$array);
  let assemblyFormat = "attr-dict `->` type($array)";
}
def LocalArrayGetOp : PTO_Op<"local_array_get"> {
  let summary = "reads one element of a local array";
  let arguments = (ins PTO_LocalArray:$array, Variadic<IndexValue>:$indices);
  let results = (outs Scalar:$result);
  let assemblyFormat = "$array `[` $indices `]` attr-dict `:` type($array) `->` type($result)";
  let rule = "local_array";
}
def LocalArraySetOp : PTO_Op<"local_array_set"> {
  let summary = "writes one element of a local array";
  let arguments = (ins PTO_LocalArray:$array, Variadic<IndexValue>:$indices, Scalar:$value);
  let assemblyFormat = "$array `[` $indices `]` `,` $value attr-dict `:` type($array) `,` type($value)";
  let rule = "local_array";
}

#endif // PTO_MEMORY_TD
