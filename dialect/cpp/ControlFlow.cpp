//===- ControlFlow.cpp - branches between blocks as structured control flow, regions opened -------===//

#include "Pto.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

/// Turns the blocks of every region inside a function into `scf` operations; inner regions first. False when something
/// branches that MLIR cannot lift; the function is then of no more use.
extern "C" bool ptoLiftControlFlow(MlirOperation function) {
  Operation *root = unwrap(function);
  IRRewriter rewriter(root->getContext());
  ControlFlowToSCFTransformation lift;
  SmallVector<Region *> regions;
  root->walk<WalkOrder::PostOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.hasOneBlock())
        regions.push_back(&region);
  });
  for (Region *region : regions) {
    (void)eraseUnreachableBlocks(rewriter, *region);
    DominanceInfo dominance;
    if (failed(transformCFGToSCF(*region, lift, dominance)) || !region->hasOneBlock())
      return false;
  }
  return true;
}

/// Puts the single block of an operation's only region in the operation's place; its terminator's operands become the
/// results.
extern "C" void ptoOpenRegion(MlirOperation operation) {
  Operation *op = unwrap(operation);
  Block &body = op->getRegion(0).front();
  Operation *last = body.getTerminator();
  for (auto [result, value] : llvm::zip(op->getResults(), last->getOperands()))
    result.replaceAllUsesWith(value);
  last->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op), body.getOperations());
  op->erase();
}
