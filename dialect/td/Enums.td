//===- Enums.td - the enumerations of the dialect -*- tablegen -*-===//
//
// `cppEnum` and `cppCase` say how a case is written in emitted C++: `cppEnum::Case`, where the case is
// "same" (as here), "upper" (HIGH_PRECISION), "camel" (atomic_add -> AtomicAdd) or "=A B C", the C++ names one by one
// in the order of the cases.
// An empty `cppEnum` with a style means a bare name (PIPE_V); no style: the enum does not reach C++ by itself.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_ENUMS_TD
#define PTO_ENUMS_TD

include "Base.td"

// `symbol` is the C++ name where the text is a keyword there.
class Case<string text, int value, string symbol = text> : I32EnumAttrCase<symbol, value, text>;

class PTO_Enum<string enum, list<I32EnumAttrCase> cases, string cppEnum_, string cppCase_> : I32EnumAttr<enum, "", cases> {
  let cppNamespace = "::pto";
  let genSpecializedAttr = 0;
  string cppEnum = cppEnum_;
  string cppCase = cppCase_;
}
class PTO_EnumAttr<PTO_Enum info, string mnemonic> : EnumAttr<Pto_Dialect, info, mnemonic> {
  // `#pto.pipe<PIPE_V>` and `#pto<pipe PIPE_V>` (cpp/Dialect.cpp).
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
  PTO_Enum facts = info;
}
// The same attribute where an op's text spells it in full (`#pto.address_space<vec>`).
class PTO_Spelled<PTO_EnumAttr attr> : Attr<CPred<"::llvm::isa<" # attr.cppType # ">($_self)">, attr.summary> {
  let storageType = attr.cppType;
  let returnType = attr.cppType;
  let convertFromStorage = "$_self";
}

def PTO_AddressSpaceEnum : PTO_Enum<"AddressSpace", [
    Case<"zero", 0>, Case<"gm", 1>, Case<"mat", 2>, Case<"left", 3>, Case<"right", 4>, Case<"acc", 5>,
    Case<"vec", 6>, Case<"bias", 7>, Case<"scaling", 8>],
    "", "">;
def PTO_AddressSpaceAttr : PTO_EnumAttr<PTO_AddressSpaceEnum, "address_space">;

def PTO_PipeEnum : PTO_Enum<"Pipe", [
    Case<"PIPE_S", 0>, Case<"PIPE_V", 1>, Case<"PIPE_M", 2>, Case<"PIPE_MTE1", 3>, Case<"PIPE_MTE2", 4>,
    Case<"PIPE_MTE3", 5>, Case<"PIPE_ALL", 6>, Case<"PIPE_MTE4", 7>, Case<"PIPE_MTE5", 8>,
    Case<"PIPE_V2", 9>, Case<"PIPE_FIX", 10>, Case<"VIRTUAL_PIPE_MTE2_L1A", 11>,
    Case<"VIRTUAL_PIPE_MTE2_L1B", 12>, Case<"PIPE_NUM", 13>, Case<"PIPE_UNASSIGNED", 99>],
    "", "same">;
def PTO_PipeAttr : PTO_EnumAttr<PTO_PipeEnum, "pipe">;

def PTO_EventEnum : PTO_Enum<"Event", [
    Case<"EVENT_ID0", 0>, Case<"EVENT_ID1", 1>, Case<"EVENT_ID2", 2>, Case<"EVENT_ID3", 3>,
    Case<"EVENT_ID4", 4>, Case<"EVENT_ID5", 5>, Case<"EVENT_ID6", 6>, Case<"EVENT_ID7", 7>],
    "", "same">;
def PTO_EventAttr : PTO_EnumAttr<PTO_EventEnum, "event">;

def PTO_PipeEventTypeEnum : PTO_Enum<"PipeEventType", [
    Case<"TLOAD", 0>, Case<"TSTORE_ACC", 1>, Case<"TSTORE_VEC", 2>, Case<"TMOV_M2L", 3>,
    Case<"TMOV_M2S", 4>, Case<"TMOV_M2B", 5>, Case<"TMOV_M2V", 6>, Case<"TMOV_V2M", 7>,
    Case<"TMATMUL", 8>, Case<"TVEC", 9>, Case<"TVECWAIT_EVENT", 10>],
    "", "">;
def PTO_PipeEventTypeAttr : PTO_EnumAttr<PTO_PipeEventTypeEnum, "pipe_event_type">;

// A pipe, or the pipe of a kind of operation.
def PTO_PipeLikeAttr : AnyAttrOf<[PTO_PipeAttr, PTO_PipeEventTypeAttr], "pipe or kind of operation">;

def PTO_SyncAllModeEnum : PTO_Enum<"SyncAllMode", [
    Case<"hard", 0>, Case<"soft", 1>],
    "SyncAllMode", "camel">;
def PTO_SyncAllModeAttr : PTO_EnumAttr<PTO_SyncAllModeEnum, "sync_all_mode">;

def PTO_SyncCoreTypeEnum : PTO_Enum<"SyncCoreType", [
    Case<"aiv_only", 0>, Case<"aic_only", 1>, Case<"mix", 2>],
    "SyncCoreType", "=AIVOnly AICOnly Mix">;
def PTO_SyncCoreTypeAttr : PTO_EnumAttr<PTO_SyncCoreTypeEnum, "sync_core_type">;

def PTO_FenceScopeEnum : PTO_Enum<"FenceScope", [
    Case<"local_memory", 0>, Case<"gm", 1>, Case<"all", 2>],
    "", "">;
def PTO_FenceScopeAttr : PTO_EnumAttr<PTO_FenceScopeEnum, "fence_scope">;

def PTO_LayoutEnum : PTO_Enum<"Layout", [
    Case<"nd", 0>, Case<"dn", 1>, Case<"nz", 2>, Case<"mx_a_zz", 3>, Case<"mx_b_nn", 4>],
    "Layout", "upper">;
def PTO_LayoutAttr : PTO_EnumAttr<PTO_LayoutEnum, "layout">;

def PTO_KernelKindEnum : PTO_Enum<"KernelKind", [
    Case<"cube", 0>, Case<"vector", 1>],
    "", "">;
def PTO_KernelKindAttr : PTO_EnumAttr<PTO_KernelKindEnum, "kernel_kind">;

def PTO_FuncCoreTypeEnum : PTO_Enum<"FuncCoreType", [
    Case<"AIC", 1>, Case<"AIV", 2>, Case<"MIX", 3>, Case<"AIC_OR_AIV", 4>],
    "", "">;
def PTO_FuncCoreTypeAttr : PTO_EnumAttr<PTO_FuncCoreTypeEnum, "func_core_type">;

def PTO_ModuleCoreTypeEnum : PTO_Enum<"ModuleCoreType", [
    Case<"AIC", 1>, Case<"AIV", 2>, Case<"MIX", 3>],
    "", "">;
def PTO_ModuleCoreTypeAttr : PTO_EnumAttr<PTO_ModuleCoreTypeEnum, "module_core_type">;

def PTO_BLayoutEnum : PTO_Enum<"BLayout", [
    Case<"row_major", 0>, Case<"col_major", 1>],
    "BLayout", "camel">;
def PTO_BLayoutAttr : PTO_EnumAttr<PTO_BLayoutEnum, "blayout">;

def PTO_SLayoutEnum : PTO_Enum<"SLayout", [
    Case<"none_box", 0>, Case<"row_major", 1>, Case<"col_major", 2>],
    "SLayout", "camel">;
def PTO_SLayoutAttr : PTO_EnumAttr<PTO_SLayoutEnum, "slayout">;

def PTO_PadValueEnum : PTO_Enum<"PadValue", [
    Case<"null", 0>, Case<"zero", 1>, Case<"max", 2>, Case<"min", 3>],
    "PadValue", "camel">;
def PTO_PadValueAttr : PTO_EnumAttr<PTO_PadValueEnum, "pad_value">;

def PTO_CompactModeEnum : PTO_Enum<"CompactMode", [
    Case<"null", 0>, Case<"normal", 1>, Case<"row_plus_one", 2>],
    "CompactMode", "camel">;
def PTO_CompactModeAttr : PTO_EnumAttr<PTO_CompactModeEnum, "compact_mode">;

def PTO_PadModeEnum : PTO_Enum<"PadMode", [
    Case<"PadNull", 0>, Case<"PadFirstElem", 1>, Case<"PadValue", 2>],
    "", "">;
def PTO_PadModeAttr : PTO_EnumAttr<PTO_PadModeEnum, "pad_mode">;

def PTO_CmpModeEnum : PTO_Enum<"CmpMode", [
    Case<"eq", 0>, Case<"ne", 1>, Case<"lt", 2>, Case<"le", 3>, Case<"gt", 4>, Case<"ge", 5>],
    "CmpMode", "upper">;
def PTO_CmpModeAttr : PTO_EnumAttr<PTO_CmpModeEnum, "cmp">;

def PTO_RoundModeEnum : PTO_Enum<"RoundMode", [
    Case<"NONE", 0>, Case<"RINT", 1>, Case<"ROUND", 2>, Case<"FLOOR", 3>, Case<"CEIL", 4>,
    Case<"TRUNC", 5>, Case<"ODD", 6>, Case<"CAST_RINT", 7>],
    "RoundMode", "=CAST_NONE CAST_RINT CAST_ROUND CAST_FLOOR CAST_CEIL CAST_TRUNC CAST_ODD CAST_RINT">;
def PTO_RoundModeAttr : PTO_EnumAttr<PTO_RoundModeEnum, "round_mode">;

def PTO_SaturationModeEnum : PTO_Enum<"SaturationMode", [
    Case<"ON", 0>, Case<"OFF", 1>],
    "SaturationMode", "same">;
def PTO_SaturationModeAttr : PTO_EnumAttr<PTO_SaturationModeEnum, "saturation_mode">;

def PTO_DivPrecisionEnum : PTO_Enum<"DivPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "DivAlgorithm", "upper">;
def PTO_DivPrecisionAttr : PTO_EnumAttr<PTO_DivPrecisionEnum, "div_precision">;

def PTO_ExpPrecisionEnum : PTO_Enum<"ExpPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "ExpAlgorithm", "upper">;
def PTO_ExpPrecisionAttr : PTO_EnumAttr<PTO_ExpPrecisionEnum, "exp_precision">;

def PTO_LogPrecisionEnum : PTO_Enum<"LogPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "LogAlgorithm", "upper">;
def PTO_LogPrecisionAttr : PTO_EnumAttr<PTO_LogPrecisionEnum, "log_precision">;

def PTO_RecipPrecisionEnum : PTO_Enum<"RecipPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "RecipAlgorithm", "upper">;
def PTO_RecipPrecisionAttr : PTO_EnumAttr<PTO_RecipPrecisionEnum, "recip_precision">;

def PTO_RemPrecisionEnum : PTO_Enum<"RemPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "RemAlgorithm", "upper">;
def PTO_RemPrecisionAttr : PTO_EnumAttr<PTO_RemPrecisionEnum, "rem_precision">;

def PTO_RsqrtPrecisionEnum : PTO_Enum<"RsqrtPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "RsqrtAlgorithm", "upper">;
def PTO_RsqrtPrecisionAttr : PTO_EnumAttr<PTO_RsqrtPrecisionEnum, "rsqrt_precision">;

def PTO_SqrtPrecisionEnum : PTO_Enum<"SqrtPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "SqrtAlgorithm", "upper">;
def PTO_SqrtPrecisionAttr : PTO_EnumAttr<PTO_SqrtPrecisionEnum, "sqrt_precision">;

def PTO_FmodPrecisionEnum : PTO_Enum<"FmodPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "FmodAlgorithm", "upper">;
def PTO_FmodPrecisionAttr : PTO_EnumAttr<PTO_FmodPrecisionEnum, "fmod_precision">;

def PTO_PowPrecisionEnum : PTO_Enum<"PowPrecision", [
    Case<"default", 0, "standard">, Case<"high_precision", 1>],
    "PowAlgorithm", "upper">;
def PTO_PowPrecisionAttr : PTO_EnumAttr<PTO_PowPrecisionEnum, "pow_precision">;

def PTO_STPhaseEnum : PTO_Enum<"STPhase", [
    Case<"unspecified", 0>, Case<"partial", 2>, Case<"final", 3>],
    "STPhase", "camel">;
def PTO_STPhaseAttr : PTO_EnumAttr<PTO_STPhaseEnum, "st_phase">;

def PTO_AccPhaseEnum : PTO_Enum<"AccPhase", [
    Case<"unspecified", 0>, Case<"partial", 2>, Case<"final", 3>],
    "AccPhase", "camel">;
def PTO_AccPhaseAttr : PTO_EnumAttr<PTO_AccPhaseEnum, "acc_phase">;

def PTO_AtomicTypeEnum : PTO_Enum<"AtomicType", [
    Case<"atomic_none", 0>, Case<"atomic_add", 1>],
    "AtomicType", "camel">;
def PTO_AtomicTypeAttr : PTO_EnumAttr<PTO_AtomicTypeEnum, "atomic_type">;

def PTO_NotifyOpEnum : PTO_Enum<"NotifyOp", [
    Case<"atomic_add", 0>, Case<"set", 1>],
    "comm::NotifyOp", "camel">;
def PTO_NotifyOpAttr : PTO_EnumAttr<PTO_NotifyOpEnum, "notify_op">;

def PTO_WaitCmpEnum : PTO_Enum<"WaitCmp", [
    Case<"eq", 0>, Case<"ne", 1>, Case<"gt", 2>, Case<"ge", 3>, Case<"lt", 4>, Case<"le", 5>],
    "comm::WaitCmp", "upper">;
def PTO_WaitCmpAttr : PTO_EnumAttr<PTO_WaitCmpEnum, "wait_cmp">;

def PTO_ReduceOpEnum : PTO_Enum<"ReduceOp", [
    Case<"sum", 0>, Case<"max", 1>, Case<"min", 2>],
    "comm::ReduceOp", "camel">;
def PTO_ReduceOpAttr : PTO_EnumAttr<PTO_ReduceOpEnum, "reduce_op">;

def PTO_ReluPreModeEnum : PTO_Enum<"ReluPreMode", [
    Case<"no_relu", 0>, Case<"normal_relu", 1>, Case<"scalar_relu", 2>, Case<"vector_relu", 3>,
    Case<"pwl", 4>],
    "ReluPreMode", "camel">;
def PTO_ReluPreModeAttr : PTO_EnumAttr<PTO_ReluPreModeEnum, "relu_pre_mode">;

def PTO_AccToVecModeEnum : PTO_Enum<"AccToVecMode", [
    Case<"single_mode_vec0", 0>, Case<"single_mode_vec1", 1>, Case<"dual_mode_split_m", 2>,
    Case<"dual_mode_split_n", 3>],
    "AccToVecMode", "camel">;
def PTO_AccToVecModeAttr : PTO_EnumAttr<PTO_AccToVecModeEnum, "acc_to_vec_mode">;

def PTO_MaskPatternEnum : PTO_Enum<"MaskPattern", [
    Case<"P0101", 1>, Case<"P1010", 2>, Case<"P0001", 3>, Case<"P0010", 4>, Case<"P0100", 5>,
    Case<"P1000", 6>, Case<"P1111", 7>],
    "MaskPattern", "same">;
def PTO_MaskPatternAttr : PTO_EnumAttr<PTO_MaskPatternEnum, "mask_pattern">;

def PTO_QuantTypeEnum : PTO_Enum<"QuantType", [
    Case<"INT8_SYM", 0>, Case<"INT8_ASYM", 1>, Case<"MXFP8", 2>, Case<"MXFP4_E2M1", 3>],
    "QuantType", "same">;
def PTO_QuantTypeAttr : PTO_EnumAttr<PTO_QuantTypeEnum, "quant_type">;

def PTO_QuantScaleAlgEnum : PTO_Enum<"QuantScaleAlg", [
    Case<"ocp", 0>, Case<"nv", 1>],
    "QuantScaleAlg", "upper">;
def PTO_QuantScaleAlgAttr : PTO_EnumAttr<PTO_QuantScaleAlgEnum, "quant_scale_alg">;

def PTO_MxGroupAxisEnum : PTO_Enum<"MxGroupAxis", [
    Case<"axis0", 0>, Case<"axis1", 1>],
    "", "=0 1">;
def PTO_MxGroupAxisAttr : PTO_EnumAttr<PTO_MxGroupAxisEnum, "mx_group_axis">;

def PTO_VecStoreModeEnum : PTO_Enum<"VecStoreMode", [
    Case<"nd", 0>, Case<"nz", 1>],
    "VecStoreMode", "upper">;
def PTO_VecStoreModeAttr : PTO_EnumAttr<PTO_VecStoreModeEnum, "vec_store_mode">;

def PTO_TInsertModeEnum : PTO_Enum<"TInsertMode", [
    Case<"split2", 2>, Case<"split4", 3>],
    "TInsertMode", "upper">;
def PTO_TInsertModeAttr : PTO_EnumAttr<PTO_TInsertModeEnum, "tinsert_mode">;

def PTO_FixpipeLayoutEnum : PTO_Enum<"FixpipeLayout", [
    Case<"nz2nd", 0>, Case<"nz2dn", 1>, Case<"nz2nz", 2>],
    "LayoutMode_t", "upper">;
def PTO_FixpipeLayoutAttr : PTO_EnumAttr<PTO_FixpipeLayoutEnum, "fixpipe_layout">;

def PTO_FixpipeQuantEnum : PTO_Enum<"FixpipeQuant", [
    Case<"no_convert", 0>, Case<"f32_f16", 1>, Case<"f32_bf16", 2>, Case<"req8_scalar", 3>,
    Case<"req8_vec", 4>, Case<"deqf16_scalar", 5>, Case<"deqf16_vec", 6>, Case<"qf322b8_pre_scalar", 7>,
    Case<"qf322b8_pre_vec", 8>, Case<"qf322f16_pre_scalar", 9>, Case<"qf322bf16_pre_scalar", 10>,
    Case<"qs322bf16_pre_scalar", 11>, Case<"qs322bf16_pre_vec", 12>, Case<"qf322hif8_pre_scalar", 13>,
    Case<"qf322fp8_pre_scalar", 14>],
    "QuantMode_t", "=NoQuant F322F16 F322BF16 REQ8 VREQ8 DEQF16 VDEQF16 QF322B8_PRE VQF322B8_PRE QF322F16_PRE QF322BF16_PRE QS322BF16_PRE VQS322BF16_PRE QF322HIF8_PRE QF322FP8_PRE">;
def PTO_FixpipeQuantAttr : PTO_EnumAttr<PTO_FixpipeQuantEnum, "fixpipe_quant">;

def PTO_FixpipeReluEnum : PTO_Enum<"FixpipeRelu", [
    Case<"no_relu", 0>, Case<"normal_relu", 1>],
    "ReluPreMode", "camel">;
def PTO_FixpipeReluAttr : PTO_EnumAttr<PTO_FixpipeReluEnum, "fixpipe_relu">;

// What a push from the accumulator does to its values on the way.
def PTO_AccPushEpilogueAttr : AttrDef<Pto_Dialect, "AccPushEpilogue"> {
  let mnemonic = "acc_push_epilogue";
  let parameters = (ins EnumParameter<PTO_FixpipeLayoutEnum>:$layout, EnumParameter<PTO_FixpipeQuantEnum>:$quant,
                        EnumParameter<PTO_FixpipeReluEnum>:$relu);
  let assemblyFormat = "`<` struct(params) `>`";
}

def PTO_GatherOOBEnum : PTO_Enum<"GatherOOB", [
    Case<"undefined", 0>, Case<"clamp", 1>, Case<"wrap", 2>, Case<"zero", 3>],
    "GatherOOB", "camel">;
def PTO_GatherOOBAttr : PTO_EnumAttr<PTO_GatherOOBEnum, "gather_oob">;

def PTO_CoalesceEnum : PTO_Enum<"Coalesce", [
    Case<"row", 0>, Case<"elem", 1>],
    "Coalesce", "camel">;
def PTO_CoalesceAttr : PTO_EnumAttr<PTO_CoalesceEnum, "coalesce">;

def PTO_ScatterAtomicOpEnum : PTO_Enum<"ScatterAtomicOp", [
    Case<"none", 0>, Case<"add", 1>, Case<"max", 2>, Case<"min", 3>],
    "ScatterAtomicOp", "camel">;
def PTO_ScatterAtomicOpAttr : PTO_EnumAttr<PTO_ScatterAtomicOpEnum, "scatter_atomic_op">;

def PTO_ScatterOOBEnum : PTO_Enum<"ScatterOOB", [
    Case<"undefined", 0>, Case<"skip", 1>, Case<"clamp", 2>, Case<"wrap", 3>],
    "ScatterOOB", "camel">;
def PTO_ScatterOOBAttr : PTO_EnumAttr<PTO_ScatterOOBEnum, "scatter_oob">;

def PTO_ScatterConflictEnum : PTO_Enum<"ScatterConflict", [
    Case<"default", 0, "standard">, Case<"last", 1>],
    "ScatterConflict", "camel">;
def PTO_ScatterConflictAttr : PTO_EnumAttr<PTO_ScatterConflictEnum, "scatter_conflict">;

def PTO_PrintFormatEnum : PTO_Enum<"PrintFormat", [
    Case<"width8_precision4", 0>, Case<"width8_precision2", 1>, Case<"width10_precision6", 2>],
    "PrintFormat", "=Width8_Precision4 Width8_Precision2 Width10_Precision6">;
def PTO_PrintFormatAttr : PTO_EnumAttr<PTO_PrintFormatEnum, "print_format">;

#endif // PTO_ENUMS_TD
