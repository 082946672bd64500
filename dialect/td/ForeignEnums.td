//===- ForeignEnums.td - enumerations that only operations of other backends have -*- tablegen -*-===//
//
// Those operations are refused (PTO-0216); their attributes are read and printed, so that a module may carry them as notes.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_FOREIGN_ENUMS_TD
#define PTO_FOREIGN_ENUMS_TD

include "Enums.td"

def PTO_AccStoreAtomicOpEnum : PTO_Enum<"AccStoreAtomicOp", [
    Case<"add", 0>, Case<"max", 1>, Case<"min", 2>],
    "", "">;
def PTO_AccStoreAtomicOpAttr : PTO_EnumAttr<PTO_AccStoreAtomicOpEnum, "acc_store_atomic_op">;

def PTO_AccStoreAtomicTypeEnum : PTO_Enum<"AccStoreAtomicType", [
    Case<"f32", 1>, Case<"f16", 2>, Case<"s16", 3>, Case<"s32", 4>, Case<"s8", 5>, Case<"bf16", 6>],
    "", "">;
def PTO_AccStoreAtomicTypeAttr : PTO_EnumAttr<PTO_AccStoreAtomicTypeEnum, "acc_store_atomic_type">;

def PTO_AccStoreModeEnum : PTO_Enum<"AccStoreMode", [
    Case<"nz2nd", 0>, Case<"nz2dn", 1>, Case<"nz2nz", 2>],
    "", "">;
def PTO_AccStoreModeAttr : PTO_EnumAttr<PTO_AccStoreModeEnum, "acc_store_mode">;

def PTO_AccStoreQuantPreModeEnum : PTO_Enum<"AccStoreQuantPreMode", [
    Case<"no_convert", 0>, Case<"f32_f16", 1>, Case<"qf322hif8_pre_vec", 2>, Case<"qf322hif8_pre_scalar", 3>,
    Case<"qf322hif8_pre_hybrid_vec", 4>, Case<"qf322hif8_pre_hybrid_scalar", 5>, Case<"deqs32_int_vec", 6>,
    Case<"deqs32_int_scalar", 7>, Case<"req8_vec", 8>, Case<"req8_scalar", 9>, Case<"deqf16_vec", 10>,
    Case<"deqf16_scalar", 11>, Case<"qf322fp8_pre_vec", 12>, Case<"qf322fp8_pre_scalar", 13>,
    Case<"qf322f32_pre_vec", 14>, Case<"qf322f32_pre_scalar", 15>, Case<"f32_bf16", 16>, Case<"qf162b8_pre_vec", 17>,
    Case<"qf162b8_pre_scalar", 18>, Case<"qf162s4_pre_vec", 19>, Case<"qf162s4_pre_scalar", 20>,
    Case<"req4_vec", 21>, Case<"req4_scalar", 22>, Case<"qf322b8_pre_vec", 23>, Case<"qf322b8_pre_scalar", 24>,
    Case<"qf322s4_pre_vec", 25>, Case<"qf322s4_pre_scalar", 26>, Case<"deqs16_vec", 27>, Case<"deqs16_scalar", 28>,
    Case<"qf162s16_pre_vec", 29>, Case<"qf162s16_pre_scalar", 30>, Case<"qf322f16_pre_vec", 31>,
    Case<"qf322f16_pre_scalar", 32>, Case<"qf322bf16_pre_vec", 33>, Case<"qf322bf16_pre_scalar", 34>,
    Case<"qs322bf16_pre_vec", 35>, Case<"qs322bf16_pre_scalar", 36>],
    "", "">;
def PTO_AccStoreQuantPreModeAttr : PTO_EnumAttr<PTO_AccStoreQuantPreModeEnum, "quant_pre_mode">;

def PTO_AccStoreSatModeEnum : PTO_Enum<"AccStoreSatMode", [
    Case<"sat", 0>, Case<"nosat", 1>, Case<"sat_preserve_nan", 2>],
    "", "">;
def PTO_AccStoreSatModeAttr : PTO_EnumAttr<PTO_AccStoreSatModeEnum, "acc_store_sat_mode">;

def PTO_AccStoreUbDstModeEnum : PTO_Enum<"AccStoreUbDstMode", [
    Case<"single", 0>, Case<"split_m", 1>, Case<"split_n", 2>],
    "", "">;
def PTO_AccStoreUbDstModeAttr : PTO_EnumAttr<PTO_AccStoreUbDstModeEnum, "acc_store_ub_dst_mode">;

def PTO_AccStoreUnitFlagCtrlEnum : PTO_Enum<"AccStoreUnitFlagCtrl", [
    Case<"off", 0>, Case<"check_only", 2>, Case<"check_and_clear", 3>],
    "", "">;
def PTO_AccStoreUnitFlagCtrlAttr : PTO_EnumAttr<PTO_AccStoreUnitFlagCtrlEnum, "unit_flag_ctrl">;

def PTO_CubeLoadFracModeEnum : PTO_Enum<"CubeLoadFracMode", [
    Case<"nd2nz", 0>, Case<"dn2nz", 1>],
    "", "">;
def PTO_CubeLoadFracModeAttr : PTO_EnumAttr<PTO_CubeLoadFracModeEnum, "cube_load_frac_mode">;

def PTO_DcciCacheLineEnum : PTO_Enum<"DcciCacheLine", [
    Case<"SINGLE_CACHE_LINE", 0>, Case<"ENTIRE_DATA_CACHE", 1>],
    "", "">;
def PTO_DcciCacheLineAttr : PTO_EnumAttr<PTO_DcciCacheLineEnum, "dcci_cache_line">;

def PTO_DcciDstEnum : PTO_Enum<"DcciDst", [
    Case<"CACHELINE_ALL", 0>, Case<"CACHELINE_UB", 1>, Case<"CACHELINE_OUT", 2>, Case<"CACHELINE_ATOMIC", 3>],
    "", "">;
def PTO_DcciDstAttr : PTO_EnumAttr<PTO_DcciDstEnum, "dcci_dst">;

def PTO_DsbMemEnum : PTO_Enum<"DsbMem", [
    Case<"ALL", 0>, Case<"DDR", 1>, Case<"UB", 2>, Case<"SEQ", 3>],
    "", "">;
def PTO_DsbMemAttr : PTO_EnumAttr<PTO_DsbMemEnum, "dsb_mem">;

def PTO_L1CacheEnum : PTO_Enum<"L1Cache", [
    Case<"uncache", 0>, Case<"cache", 1>],
    "", "">;
def PTO_L1CacheAttr : PTO_EnumAttr<PTO_L1CacheEnum, "l1cache">;

def PTO_LdL2CacheEnum : PTO_Enum<"LdL2Cache", [
    Case<"nmfv", 0>, Case<"nmlv", 1>, Case<"nmprs", 2>, Case<"nmpref", 3>, Case<"nakeep", 4>, Case<"naclean", 5>,
    Case<"nadrop", 6>, Case<"idsfv", 8>, Case<"idslv", 9>, Case<"idsprs", 10>, Case<"idspref", 11>, Case<"exfv", 12>,
    Case<"exlv", 13>, Case<"exprs", 14>, Case<"expref", 15>],
    "", "">;
def PTO_LdL2CacheAttr : PTO_EnumAttr<PTO_LdL2CacheEnum, "ld_l2cache">;

def PTO_MadSatModeEnum : PTO_Enum<"MadSatMode", [
    Case<"sat", 0>, Case<"nosat", 1>],
    "", "">;
def PTO_MadSatModeAttr : PTO_EnumAttr<PTO_MadSatModeEnum, "mad_sat_mode">;

def PTO_MadUnitFlagModeEnum : PTO_Enum<"MadUnitFlagMode", [
    Case<"check_only", 0>, Case<"check_and_set", 1>],
    "", "">;
def PTO_MadUnitFlagModeAttr : PTO_EnumAttr<PTO_MadUnitFlagModeEnum, "mad_unit_flag_mode">;

def PTO_MemBarKindEnum : PTO_Enum<"MemBarKind", [
    Case<"VV_ALL", 0>, Case<"VST_VLD", 1>, Case<"VLD_VST", 2>, Case<"VST_VST", 3>, Case<"VS_ALL", 4>,
    Case<"VST_LD", 5>, Case<"VLD_ST", 6>, Case<"VST_ST", 7>, Case<"SV_ALL", 8>, Case<"ST_VLD", 9>,
    Case<"LD_VST", 10>, Case<"ST_VST", 11>, Case<"SS_ALL", 12>, Case<"ST_LD", 13>, Case<"LD_ST", 14>,
    Case<"ST_ST", 15>],
    "", "">;
def PTO_MemBarKindAttr : PTO_EnumAttr<PTO_MemBarKindEnum, "membar">;

def PTO_RoundingEnum : PTO_Enum<"Rounding", [
    Case<"r", 0>, Case<"a", 1>, Case<"f", 2>, Case<"c", 3>, Case<"z", 4>, Case<"o", 5>, Case<"h", 6>],
    "", "">;
def PTO_RoundingAttr : PTO_EnumAttr<PTO_RoundingEnum, "rounding">;

def PTO_SaturationEnum : PTO_Enum<"Saturation", [
    Case<"nosat", 0>, Case<"sat", 1>],
    "", "">;
def PTO_SaturationAttr : PTO_EnumAttr<PTO_SaturationEnum, "saturation">;

def PTO_SignednessEnum : PTO_Enum<"Signedness", [
    Case<"signed", 0, "signed_">, Case<"unsigned", 1, "unsigned_">],
    "", "">;
def PTO_SignednessAttr : PTO_EnumAttr<PTO_SignednessEnum, "signedness">;

def PTO_StL2CacheEnum : PTO_Enum<"StL2Cache", [
    Case<"nmfv", 0>, Case<"nmlv", 1>, Case<"nmprs", 2>, Case<"nmred", 3>, Case<"naci", 4>, Case<"napw", 5>,
    Case<"napi", 6>, Case<"nared", 7>, Case<"wbhfv", 8>, Case<"wbhlv", 9>, Case<"wbhprs", 10>, Case<"wbhred", 11>,
    Case<"wtsfv", 12>, Case<"wtslv", 13>, Case<"wtsprs", 14>, Case<"wtsred", 15>],
    "", "">;
def PTO_StL2CacheAttr : PTO_EnumAttr<PTO_StL2CacheEnum, "st_l2cache">;

def PTO_Tf32ModeEnum : PTO_Enum<"Tf32Mode", [
    Case<"round_even", 0>, Case<"round_away", 1>],
    "", "">;
def PTO_Tf32ModeAttr : PTO_EnumAttr<PTO_Tf32ModeEnum, "tf32_mode">;

#endif // PTO_FOREIGN_ENUMS_TD
