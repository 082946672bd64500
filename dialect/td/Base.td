//===- Base.td - dialect, operand roles and the classes every op derives from -*- tablegen -*-===//
//
// One op = one `def` in one file of this folder. An op's row says everything about it: operands with
// their roles, spelling, pipe, C++ call, legal element types, in-place rules, scratch. `build.rs` reads
// these definitions and generates the C++ parser glue and the Rust facts table from them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef PTO_BASE_TD
#define PTO_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pto_Dialect : Dialect {
  let name = "pto";
  let extraClassDeclaration = [{
    void registerTypes();
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let cppNamespace = "::pto";
  let summary = "Tile programs for Ascend NPUs";
  // Branches between blocks are read and opened early; values that no path defines are poison then.
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::ub::UBDialect"];
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Operand roles
//===----------------------------------------------------------------------===//

// What an operand is and what the op does with the memory behind it. `kind` is what the spelling
// `ins(...)` uses to tell optional operands apart; `role` is what allocation and synchronisation use.
//   kind: tile | view | ptr | scalar | int | index | pipe | memory (tile or view) | any
//   role: none (a plain value) | read | write | update (read and written) | scratch
class PTO_Operand<string kind_, string role_, Pred pred, string text> : Type<pred, text> {
  string kind = kind_;
  string role = role_;
}

def PTO_IsTile : CPred<"::llvm::isa<::pto::TileBufType>($_self)">;
def PTO_IsMultiTile : CPred<"::llvm::isa<::pto::MultiTileBufType>($_self)">;
def PTO_IsView : CPred<"::llvm::isa<::pto::TensorViewType, ::pto::PartitionTensorViewType>($_self)">;
def PTO_IsPtr : CPred<"::llvm::isa<::pto::PtrType>($_self)">;
def PTO_IsEventIdArray : CPred<"::llvm::isa<::pto::EventIdArrayType>($_self)">;
def PTO_IsPipe : CPred<"::llvm::isa<::pto::PipeType>($_self)">;
def PTO_IsScalar : CPred<"$_self.isIntOrIndexOrFloat() || ::pto::isLowPrecision($_self)">;
def PTO_IsInt : CPred<"$_self.isIntOrIndex()">;
def PTO_IsTileOrView : Or<[PTO_IsTile, PTO_IsView]>;

def TileIn      : PTO_Operand<"tile", "read",    PTO_IsTile, "tile">;
def TileOut     : PTO_Operand<"tile", "write",   PTO_IsTile, "tile">;
def TileInOut   : PTO_Operand<"tile", "update",  PTO_IsTile, "tile">;
def TileTmp     : PTO_Operand<"tile", "scratch", PTO_IsTile, "scratch tile">;
// A tile that is only named (its address, valid shape or type is used, not its bytes).
def TileRef     : PTO_Operand<"tile", "none",    PTO_IsTile, "tile">;
def ViewIn      : PTO_Operand<"view", "read",    PTO_IsView, "tensor view">;
def ViewOut     : PTO_Operand<"view", "write",   PTO_IsView, "tensor view">;
def ViewInOut   : PTO_Operand<"view", "update",  PTO_IsView, "tensor view">;
def ViewRef     : PTO_Operand<"view", "none",    PTO_IsView, "tensor view">;
def MemIn       : PTO_Operand<"memory", "read",  PTO_IsTileOrView, "tile or tensor view">;
def MemOut      : PTO_Operand<"memory", "write", PTO_IsTileOrView, "tile or tensor view">;
def PtrIn       : PTO_Operand<"ptr", "read",     PTO_IsPtr, "pointer">;
def PtrOut      : PTO_Operand<"ptr", "write",    PTO_IsPtr, "pointer">;
def PtrRef      : PTO_Operand<"ptr", "none",     PTO_IsPtr, "pointer">;
def PipeRef     : PTO_Operand<"pipe", "none",    PTO_IsPipe, "pipe">;
def EventIdArray : PTO_Operand<"event_id_array", "none", PTO_IsEventIdArray, "array of event ids">;
def Scalar      : PTO_Operand<"scalar", "none",  PTO_IsScalar, "integer, index or floating-point scalar">;
def IntScalar   : PTO_Operand<"int", "none",     PTO_IsInt, "integer or index">;
def IndexValue  : PTO_Operand<"index", "none",   CPred<"$_self.isIndex()">, "index">, BuildableType<"$_builder.getIndexType()">;
def I64Value    : PTO_Operand<"int", "none",     CPred<"$_self.isSignlessInteger(64)">, "i64">, BuildableType<"$_builder.getI64Type()">;
def I32Value    : PTO_Operand<"int", "none",     CPred<"$_self.isSignlessInteger(32)">, "i32">, BuildableType<"$_builder.getI32Type()">;
def F32Value    : PTO_Operand<"scalar", "none",  CPred<"$_self.isF32()">, "f32">;
def AnyValue    : PTO_Operand<"any", "none",     CPred<"true">, "any type">;

def TileResult  : Type<PTO_IsTile, "tile">;
def MultiTile   : PTO_Operand<"multi_tile", "none", PTO_IsMultiTile, "multi tile">;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// `pipe`: "" (no pipe), a pipe's name, or a rule of `dialect/src/pipes.rs`:
//   "tload" "tstore" "tmov" "textract" "tinsert" "tfillpad" "texpands" "tci" "tpush" "tpop" "tscatter" "gm_gather" "gm_scatter"
// `cpp`: the C++ statement, without `;`. `$name` is an operand, result or attribute; `@name` is `decltype(name)`;
//   `%name` is the element's C++ type of a tile (`int32_t`);
//   a group in `[...]` is printed only when everything it names is present (an attribute: and not its default);
//   `[a|b]` prints b otherwise. Several statements are separated by `; `.
//   "" means that codegen prints the op by name (views, control, pipes).
// `a3`, `a5`: legal element types of `typed` (a tile operand, "dst" by default), separated by spaces; `i16` is
//   either signedness, `si16` and `ui16` are one (PTO-ISA static assertions of npu/a2a3 and npu/a5);
//   "" = not restricted here, "-" = the op does not exist on that target.
// `rule`: names of verifier rules in `dialect/src/verify.rs`, separated by spaces.
// `inplace`: the ins operands whose storage `dst` may share, separated by spaces; "*" = any; "" = none.
// `inplace_a3`: the same for A2/A3 where it differs ("=" = as `inplace`).
// `destroys_a3`: sources that the library for A2/A3 overwrites while it computes, separated by spaces; `src:i32` where
//   only elements of that type are.
// `scratch`: the rule in `passes/materialize_tmp.rs` that sizes a missing tmp ("" = none is ever needed).
// `events`: event-0 flags that the library uses inside the call, as "SRC>DST SRC>DST".
class PTO_Op<string mnemonic, list<Trait> traits = []> : Op<Pto_Dialect, mnemonic, traits> {
  string pipe = "";
  string cpp = "";
  string typed = "dst";
  string a3 = "";
  string a5 = "";
  string rule = "";
  string inplace = "";
  string inplace_a3 = "=";
  string destroys_a3 = "";
  string scratch = "";
  string events = "";
  // Spelling: "dps" = `ins(...) outs(...) {attrs}` by the generated parser; "" = the op says it itself.
  string syntax = "";
  let hasVerifier = 1;
}

// A tile instruction: `pto.tX ins(%a, %b {attrs} : T, T) outs(%d : T) {attrs}`. Operands whose role is write,
// update (`outs` in their name's list) stand in `outs`; `outs` lists them by name, everything else stands in `ins`.
// The attribute dictionary is accepted inside `ins` and after `outs`; `attrsInside` says where it is printed.
class TileOp<string mnemonic, string call, dag args, list<Trait> traits = []> : PTO_Op<mnemonic, traits> {
  let arguments = args;
  let cpp = call;
  let syntax = "dps";
  string outs = "dst";
  bit attrsInside = 0;
  // Operands written by a keyword inside `ins`, behind the types: "fp=fp pre_quant=preQuantScalar".
  string clauses = "";
  // Older spellings that front-ends print, accepted and printed as this one; `name:operand` where the older operation
  // always has an operand that is optional here, written behind the first one: "tmov.fp:fp".
  string aliases = "";
  // Operands and attributes written by their names behind everything else, in this order: "pad_mode pad_value".
  string trailing = "";
  let pipe = "PIPE_V";
  let hasCustomAssemblyFormat = 1;
}

#endif // PTO_BASE_TD
