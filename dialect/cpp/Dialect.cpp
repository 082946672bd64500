//===- Dialect.cpp - registration of the dialect, its attributes and operations -------------===//
//
// Glue only: what an operation means is in td/ and in Rust.
//
//===-----------------------------------------------------------------------------------------===//

#include "Pto.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pto;

#include "PtoDialect.cpp.inc"
#include "PtoEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "PtoAttrs.cpp.inc"

/// A case of an enumeration, in angle brackets or bare.
template <typename Attr, typename Enum>
static Attribute parseEnum(AsmParser &parser, std::optional<Enum> (*symbolize)(StringRef), StringRef what) {
  bool bracketed = succeeded(parser.parseOptionalLess());
  StringRef text;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&text))
    return {};
  std::optional<Enum> value = symbolize(text);
  if (!value)
    return parser.emitError(at) << "'" << text << "' is no case of " << what, Attribute();
  if (bracketed && parser.parseGreater())
    return {};
  return Attr::get(parser.getContext(), *value);
}

#define PTO_ENUM(Name)                                                                                                 \
  Attribute Name##Attr::parse(AsmParser &parser, Type) {                                                               \
    return parseEnum<Name##Attr, Name>(parser, &symbolize##Name, #Name);                                               \
  }                                                                                                                    \
  void Name##Attr::print(AsmPrinter &printer) const { printer << '<' << stringify##Name(getValue()) << '>'; }
#include "PtoEnumList.inc"
#undef PTO_ENUM

Attribute PtoDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc at = parser.getCurrentLocation();
  // The older name of `pipe_event_type`.
  if (succeeded(parser.parseOptionalKeyword("sync_op_type")))
    return PipeEventTypeAttr::parse(parser, type);
  StringRef tag;
  Attribute attribute;
  if (generatedAttributeParser(parser, &tag, type, attribute).has_value())
    return attribute;
  return parser.emitError(at) << "unknown attribute `" << tag << "` in dialect `pto`", Attribute();
}

void PtoDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

void PtoDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "PtoAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "PtoOps.cpp.inc"
      >();
}

extern "C" {
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Pto, pto);
}
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Pto, pto, pto::PtoDialect)

/// The text of an enumeration attribute's case (`CAST_RINT`), or an empty string.
extern "C" MlirStringRef ptoEnumAttrText(MlirAttribute attribute) {
#define PTO_ENUM(Name)                                                                                                 \
  if (auto value = dyn_cast<Name##Attr>(unwrap(attribute)))                                                            \
    return wrap(stringify##Name(value.getValue()));
#include "PtoEnumList.inc"
#undef PTO_ENUM
  return wrap(StringRef());
}

/// A part of `acc_push_epilogue` as an enumeration attribute: 0 layout, 1 quant, 2 relu; null for other attributes.
extern "C" MlirAttribute ptoEpiloguePart(MlirAttribute attribute, int32_t part) {
  auto epilogue = dyn_cast<AccPushEpilogueAttr>(unwrap(attribute));
  if (!epilogue)
    return {nullptr};
  MLIRContext *context = epilogue.getContext();
  switch (part) {
  case 0:
    return wrap(Attribute(FixpipeLayoutAttr::get(context, epilogue.getLayout())));
  case 1:
    return wrap(Attribute(FixpipeQuantAttr::get(context, epilogue.getQuant())));
  default:
    return wrap(Attribute(FixpipeReluAttr::get(context, epilogue.getRelu())));
  }
}

/// The enumeration's C++ name (`RoundMode`), or an empty string.
extern "C" MlirStringRef ptoEnumAttrName(MlirAttribute attribute) {
#define PTO_ENUM(Name)                                                                                                 \
  if (isa<Name##Attr>(unwrap(attribute)))                                                                              \
    return wrap(StringRef(#Name));
#include "PtoEnumList.inc"
#undef PTO_ENUM
  return wrap(StringRef());
}

/// The attribute of enumeration `name` with the given case; null when there is none.
extern "C" MlirAttribute ptoEnumAttrGet(MlirContext context, MlirStringRef name, MlirStringRef text) {
#define PTO_ENUM(Name)                                                                                                 \
  if (unwrap(name) == #Name) {                                                                                         \
    if (auto value = symbolize##Name(unwrap(text)))                                                                    \
      return wrap(Attribute(Name##Attr::get(unwrap(context), *value)));                                                \
  }
#include "PtoEnumList.inc"
#undef PTO_ENUM
  return {nullptr};
}
