//===- Structure.td - records on the stack, regions that are opened early -*- tablegen -*-===//

#ifndef PTO_STRUCTURE_TD
#define PTO_STRUCTURE_TD

include "Base.td"

//===----------------------------------------------------------------------===//
// Records of scalars on the core's stack
//===----------------------------------------------------------------------===//

def PTO_Struct : PTO_Operand<"any", "none", CPred<"::llvm::isa<::pto::StructType>($_self)">, "struct">;

// Only the accesses below may use a struct: it is memory of the scope that declares it.
def DeclareStructOp : PTO_Op<"declare_struct"> {
  let summary = "a record of scalars on the core's stack";
  let results = (outs PTO_Struct:$s);
  let assemblyFormat = "attr-dict `->` type($s)";
  let rule = "declare_struct";
}
// `path` counts fields from 0, through structs inside it to a scalar.
def StructGetOp : PTO_Op<"struct_get"> {
  let summary = "reads one field of a struct";
  let arguments = (ins PTO_Struct:$s, DenseI64ArrayAttr:$path);
  let results = (outs Scalar:$value);
  let assemblyFormat = "$s custom<StructPath>($path) attr-dict `:` type($s) `->` type($value)";
  let rule = "struct_access";
}
def StructSetOp : PTO_Op<"struct_set"> {
  let summary = "writes one field of a struct";
  let arguments = (ins PTO_Struct:$s, DenseI64ArrayAttr:$path, Scalar:$value);
  let assemblyFormat = "$s custom<StructPath>($path) `,` $value attr-dict `:` type($s) `,` type($value)";
  let rule = "struct_access";
}

//===----------------------------------------------------------------------===//
// Fusion regions
//===----------------------------------------------------------------------===//

// What one fusion group was. Nothing is fused here: `pto-open-regions` puts the body in its place, and what it yields
// for the results.
def FusionRegionOp : PTO_Op<"fusion_region", [SingleBlock]> {
  let summary = "a group of operations, with the values that are used outside as results";
  let results = (outs Variadic<AnyValue>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict `:` type(results)";
  let rule = "fusion_region";
}
def YieldOp : PTO_Op<"yield", [Terminator, ParentOneOf<["::pto::FusionRegionOp"]>]> {
  let summary = "ends a fusion region";
  let arguments = (ins Variadic<AnyValue>:$values);
  let assemblyFormat = "`(` $values `)` attr-dict `:` functional-type($values, results)";
}

#endif // PTO_STRUCTURE_TD
