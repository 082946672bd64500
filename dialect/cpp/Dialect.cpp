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
