//===- Bridge.cpp - what Rust needs from MLIR and its C API lacks --------------------------------===//

#include "Pto.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace pto;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

extern "C" {

/// The fields of a tile type; extents are elements, a dynamic one is -1.
struct PtoTileInfo {
  int32_t space, blayout, slayout, pad, compact;
  int64_t rows, cols, validRows, validCols, fractal;
  MlirType element;
};

bool ptoTileInfo(MlirType type, PtoTileInfo *info) {
  auto tile = dyn_cast<TileBufType>(unwrap(type));
  if (!tile)
    return false;
  auto extent = [](int64_t value) { return ShapedType::isDynamic(value) ? -1 : value; };
  *info = {int32_t(tile.getSpace()), int32_t(tile.getBlayout()), int32_t(tile.getSlayout()), int32_t(tile.getPad()),
           int32_t(tile.getCompact()), tile.getRows(), tile.getCols(), extent(tile.getValidRows()),
           extent(tile.getValidCols()), tile.getFractal(), wrap(tile.getElementType())};
  return true;
}

MlirType ptoTileGet(MlirContext context, const PtoTileInfo *info) {
  auto extent = [](int64_t value) { return value < 0 ? ShapedType::kDynamic : value; };
  return wrap(Type(TileBufType::getChecked(
      [&] { return emitError(UnknownLoc::get(unwrap(context))); }, unwrap(context), AddressSpace(info->space), info->rows,
      info->cols, unwrap(info->element), extent(info->validRows), extent(info->validCols), BLayout(info->blayout),
      SLayout(info->slayout), info->fractal, PadValue(info->pad), CompactMode(info->compact))));
}

/// Which shaped type this is: 0 none, 1 tensor_view, 2 partition_tensor_view, 3 local_array.
int32_t ptoShapedKind(MlirType type) {
  Type t = unwrap(type);
  return isa<TensorViewType>(t) ? 1 : isa<PartitionTensorViewType>(t) ? 2 : isa<LocalArrayType>(t) ? 3 : 0;
}

/// Rank of a shaped type; fills up to `capacity` extents (-1 where dynamic) and the element type.
int64_t ptoShapedInfo(MlirType type, int64_t *extents, int64_t capacity, MlirType *element) {
  ArrayRef<int64_t> shape;
  Type t = unwrap(type);
  if (auto view = dyn_cast<TensorViewType>(t))
    shape = view.getShape(), *element = wrap(view.getElementType());
  else if (auto part = dyn_cast<PartitionTensorViewType>(t))
    shape = part.getShape(), *element = wrap(part.getElementType());
  else if (auto array = dyn_cast<LocalArrayType>(t))
    shape = array.getShape(), *element = wrap(array.getElementType());
  for (int64_t i = 0; i < std::min<int64_t>(capacity, shape.size()); ++i)
    extents[i] = ShapedType::isDynamic(shape[i]) ? -1 : shape[i];
  return shape.size();
}

/// Element type and memory space of a pointer.
bool ptoPtrInfo(MlirType type, MlirType *element, int32_t *space) {
  auto ptr = dyn_cast<PtrType>(unwrap(type));
  if (!ptr)
    return false;
  *element = wrap(ptr.getElementType());
  *space = int32_t(ptr.getSpace());
  return true;
}

bool ptoMultiTileInfo(MlirType type, MlirType *slot, int64_t *count) {
  auto multi = dyn_cast<MultiTileBufType>(unwrap(type));
  if (!multi)
    return false;
  *slot = wrap(Type(multi.getSlot()));
  *count = multi.getCount();
  return true;
}

/// How many event ids an array holds; -1 for other types.
int64_t ptoEventIdArraySize(MlirType type) {
  auto array = dyn_cast<EventIdArrayType>(unwrap(type));
  return array ? array.getSize() : -1;
}

/// Fields of a struct; -1 for other types.
int64_t ptoStructFieldCount(MlirType type) {
  auto record = dyn_cast<StructType>(unwrap(type));
  return record ? int64_t(record.getFields().size()) : -1;
}

MlirType ptoStructField(MlirType type, int64_t index) { return wrap(cast<StructType>(unwrap(type)).getFields()[index]); }

MlirType ptoPipeTypeGet(MlirContext context) { return wrap(Type(PipeType::get(unwrap(context)))); }

/// The mnemonic of one of the dialect's own element types, or an empty string.
MlirStringRef ptoLowPrecisionName(MlirType type) {
  Type t = unwrap(type);
#define PTO_LOW_PRECISION(Class)                                                                                       \
  if (isa<Class>(t))                                                                                                   \
    return wrap(StringRef(Class::getMnemonic()));
  PTO_LOW_PRECISION(HiF8Type)
  PTO_LOW_PRECISION(F8E8M0Type)
  PTO_LOW_PRECISION(HiF8x2Type)
  PTO_LOW_PRECISION(F4E1M2x2Type)
  PTO_LOW_PRECISION(F4E2M1x2Type)
  PTO_LOW_PRECISION(BF16x2Type)
#undef PTO_LOW_PRECISION
  return wrap(StringRef());
}

//===----------------------------------------------------------------------===//
// Parsing that keeps the author's value names
//===----------------------------------------------------------------------===//

static Location named(StringRef text, Location location) {
  return NameLoc::get(StringAttr::get(location.getContext(), text.ltrim('%')), location);
}

static StringRef textOf(const AsmParserState::SMDefinition &definition) {
  const char *start = definition.loc.Start.getPointer(), *end = definition.loc.End.getPointer();
  return StringRef(start, end - start);
}

/// Puts each value's name into its location: `loc("name"(file:line:col))`. Only the first result of an
/// operation can carry one; the others are numbered from it.
static void keepNames(const AsmParserState &state) {
  for (const auto &definition : state.getOpDefs())
    if (!definition.resultGroups.empty())
      definition.op->setLoc(named(textOf(definition.resultGroups.front().definition), definition.op->getLoc()));
  for (const auto &definition : state.getBlockDefs())
    for (auto [argument, argumentDefinition] : llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(textOf(argumentDefinition), argument.getLoc()));
}

/// Verifies. After a failure every operation is verified by itself, so that a run reports more than the first problem.
static LogicalResult verifyAll(ModuleOp module) {
  {
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Error);
    });
    if (succeeded(mlir::verify(module)))
      return success();
  }
  bool found = false;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { found |= failed(mlir::verify(op, /*verifyRecursively=*/false)); });
  // What shows only in the whole.
  if (!found)
    (void)mlir::verify(module);
  return failure();
}

MlirModule ptoParse(MlirContext context, MlirStringRef text, MlirStringRef file, bool allowUnregistered) {
  MLIRContext *ctx = unwrap(context);
  ctx->allowUnregisteredDialects(allowUnregistered);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(file)), llvm::SMLoc());
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(*sources, &block, ParserConfig(ctx, /*verifyAfterParse=*/false), &state)))
    return {nullptr};
  // Before verification, so that its messages have the names.
  keepNames(state);
  OwningOpRef<ModuleOp> module;
  if (llvm::hasSingleElement(block) && isa<ModuleOp>(block.front())) {
    module = cast<ModuleOp>(block.front());
    module.get()->remove();
  } else {
    module = ModuleOp::create(UnknownLoc::get(ctx));
    module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  }
  if (failed(verifyAll(*module)))
    return {nullptr};
  return wrap(module.release());
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Emits one diagnostic with notes. Severity: 0 error, 1 warning, 3 remark.
void ptoEmitDiagnostic(MlirLocation location, int32_t severity, MlirStringRef message, intptr_t noteCount,
                       const MlirLocation *noteLocations, const MlirStringRef *notes) {
  DiagnosticSeverity kind = severity == 0   ? DiagnosticSeverity::Error
                            : severity == 1 ? DiagnosticSeverity::Warning
                                            : DiagnosticSeverity::Remark;
  Location at = unwrap(location);
  InFlightDiagnostic diagnostic = at.getContext()->getDiagEngine().emit(at, kind);
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < noteCount; ++i)
    diagnostic.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}

/// The file position inside a location, and the name it carries; false when it has no position.
bool ptoLocationInfo(MlirLocation location, MlirStringRef *file, uint32_t *line, uint32_t *column, MlirStringRef *name) {
  *name = wrap(StringRef());
  bool found = false;
  unwrap(location)->walk([&](Location part) {
    if (auto nameLoc = dyn_cast<NameLoc>(part); nameLoc && unwrap(*name).empty())
      *name = wrap(nameLoc.getName().getValue());
    if (auto position = dyn_cast<FileLineColRange>(part)) {
      *file = wrap(position.getFilename().getValue());
      *line = position.getStartLine();
      *column = position.getStartColumn();
      found = true;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

MlirLocation ptoValueLocation(MlirValue value) { return wrap(unwrap(value).getLoc()); }

//===----------------------------------------------------------------------===//
// Editing
//===----------------------------------------------------------------------===//

/// Whether an operation has no effect and can be dropped when its results are unused.
bool ptoIsPure(MlirOperation op) { return isMemoryEffectFree(unwrap(op)); }

void ptoReplaceAllUses(MlirValue of, MlirValue with) { unwrap(of).replaceAllUsesWith(unwrap(with)); }

//===----------------------------------------------------------------------===//
// Passes and the mlir-opt driver
//===----------------------------------------------------------------------===//

void ptoRegisterPass(MlirPass (*create)()) {
  registerPass([create]() { return std::unique_ptr<Pass>(unwrap(create())); });
}

void ptoRegisterUpstreamPasses(void) {
  registerCSEPass();
  registerCanonicalizerPass();
}

MlirPass ptoCreateCsePass(void) { return wrap(createCSEPass().release()); }
MlirPass ptoCreateCanonicalizerPass(void) { return wrap(createCanonicalizerPass().release()); }

int ptoOptMain(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirOptMain(argc, argv, "PTO optimizer driver\n", *unwrap(registry)));
}

} // extern "C"
