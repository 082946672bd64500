// Enumerations of the instruction set. `PTO_HOST_ENUM` also gives each its name at run time, so that a flag that
// reaches the runtime says what it is.
#ifndef PTO_HOST_ENUMS_HPP
#define PTO_HOST_ENUMS_HPP

#define PTO_HOST_ENUM(NAME, BASE, ...)               \
    enum class NAME : BASE { __VA_ARGS__ };          \
    constexpr const char* host_enum_name(NAME) { return #NAME; }

#define PTO_HOST_PLAIN_ENUM(NAME, BASE, ...)         \
    enum NAME : BASE { __VA_ARGS__ };                \
    constexpr const char* host_enum_name(NAME) { return #NAME; }

namespace pto {

// Tiles and tensors.
PTO_HOST_ENUM(TileType, int, Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl)
PTO_HOST_ENUM(BLayout, int, RowMajor = 0, ColMajor = 1)
PTO_HOST_ENUM(SLayout, int, NoneBox = 0, RowMajor = 1, ColMajor = 2)
PTO_HOST_ENUM(PadValue, uint64_t, Null = 0, Zero = 1, Max = 2, Min = 3, CustomBase = 0x100000000ULL)
PTO_HOST_ENUM(CompactMode, int, Null, Normal, RowPlusOne, RowAlignedPadding)
PTO_HOST_ENUM(Layout, int, ND, DN, NZ, SCALE, MX_A_ND, MX_A_DN, MX_A_ZZ, MX_B_ND, MX_B_DN, MX_B_NN, HIF4_A_ZZ,
              HIF4_B_NN, NC1HWC0, GNC1HWC0, NCHW, GNCHW, NHWC, NDC1HWC0, NCDHW, FRACTAL_Z, FRACTAL_Z_S16S8,
              FRACTAL_Z_3D, MAX)

// Element-wise and conversion.
PTO_HOST_ENUM(CmpMode, uint8_t, EQ = 0, NE = 1, LT = 2, LE = 3, GT = 4, GE = 5)
PTO_HOST_ENUM(RoundMode, uint8_t, CAST_NONE = 0, CAST_RINT = 1, CAST_ROUND = 2, CAST_FLOOR = 3, CAST_CEIL = 4,
              CAST_TRUNC = 5, CAST_ODD = 6)
PTO_HOST_ENUM(SaturationMode, uint8_t, ON = 0, OFF = 1)
PTO_HOST_ENUM(PowAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(DivAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(SqrtAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(RsqrtAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(RecipAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(ExpAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(LogAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(FmodAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(FmodSAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(RemAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)
PTO_HOST_ENUM(RemSAlgorithm, uint8_t, DEFAULT, HIGH_PRECISION)

// Quantisation.
PTO_HOST_ENUM(QuantType, int, MXFP8 = 0, MXFP4_E2M1 = 1, INT8_SYM = 2, INT8_ASYM = 3)
PTO_HOST_ENUM(QuantScaleAlg, int, OCP = 0, NV = 1)
PTO_HOST_ENUM(MxQuantAlg, int, OcpMxFp8E4M3 = 0, NvMxFp8E4M3 = 1, OcpMxFp4E2M1 = 2, NvMxFp4E2M1 = 3, Hif4 = 4)
PTO_HOST_ENUM(VecStoreMode, int, ND = 0, NZ = 1)

// Moves and stores.
PTO_HOST_ENUM(STPhase, uint8_t, Unspecified = 0, Partial = 2, Final = 3)
PTO_HOST_ENUM(AccPhase, uint8_t, Unspecified = 0, Unknown = 0, Partial = 2, Final = 3)
PTO_HOST_ENUM(AccToVecMode, uint8_t, SingleModeVec0 = 0, SingleModeVec1 = 1, DualModeSplitM = 2, DualModeSplitN = 3)
PTO_HOST_ENUM(ReluPreMode, uint8_t, NoRelu = 0, NormalRelu = 1)
PTO_HOST_ENUM(AtomicType, uint8_t, AtomicNone = 0, AtomicAdd = 1)
PTO_HOST_ENUM(TFillPadMode, uint8_t, Normal = 0, InPlace = 1, Expand = 2)
PTO_HOST_ENUM(TInsertMode, uint8_t, SPLIT2 = 2, SPLIT4 = 3)
PTO_HOST_ENUM(SetFmatrixMode, int, FMATRIX_A_AUTO, FMATRIX_B_AUTO, FMATRIX_A_MANUAL, FMATRIX_B_MANUAL)
PTO_HOST_ENUM(LayoutMode_t, uint8_t, NZ2NZ = 0, NZ2ND = 1, NZ2DN = 2)
PTO_HOST_PLAIN_ENUM(ClipReluMode_t, int, NOCLIP_RELU = 0, CLIP_RELU = 1)

// Irregular.
PTO_HOST_ENUM(MaskPattern, uint8_t, P0101 = 1, P1010 = 2, P0001 = 3, P0010 = 4, P0100 = 5, P1000 = 6, P1111 = 7)
PTO_HOST_ENUM(ScatterAxis, uint8_t, SCATTER_ROW = 0, SCATTER_COL = 1)
PTO_HOST_ENUM(ScatterAtomicOp, uint8_t, None = 0, Add = 1, Max = 2, Min = 3)
PTO_HOST_ENUM(ScatterOOB, uint8_t, Undefined = 0, Skip = 1, Clamp = 2, Wrap = 3)
PTO_HOST_ENUM(ScatterConflict, uint8_t, Last = 0, Default = 1)
PTO_HOST_ENUM(GatherAxis, uint8_t, GATHER_ROW = 0, GATHER_COL = 1)
PTO_HOST_ENUM(GatherOOB, uint8_t, Undefined = 0, Clamp = 1, Wrap = 2, Zero = 3)
PTO_HOST_ENUM(GatherExec, uint8_t, Scalar = 0, Simt = 1)
PTO_HOST_ENUM(Coalesce, uint8_t, Row = 0, Elem = 1)
PTO_HOST_ENUM(HistByte, uint8_t, BYTE_0 = 0, BYTE_1 = 1, BYTE_2 = 2, BYTE_3 = 3)
PTO_HOST_ENUM(PrintFormat, uint8_t, Width8_Precision4 = 0, Width8_Precision2 = 1, Width10_Precision6 = 2)

// Synchronisation and cube-vector FIFO.
PTO_HOST_ENUM(SyncAllMode, uint8_t, Hard = 0, Soft = 1)
PTO_HOST_ENUM(SyncCoreType, uint8_t, AIVOnly = 0, AICOnly = 1, Mix = 2)
PTO_HOST_PLAIN_ENUM(TileSplitAxis, uint8_t, TILE_NO_SPLIT = 0, TILE_UP_DOWN = 1, TILE_LEFT_RIGHT = 2,
                    TILE_UP_DOWN_ODD = 3, TILE_LEFT_RIGHT_ODD = 4)
PTO_HOST_PLAIN_ENUM(Direction, uint8_t, UNDEFINED = 0, DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3, DIR_V2C_CTRL = 4,
                    DIR_C2V_GM = 5, DIR_V2C_GM = 6, DIR_BOTH_GM = 7)

} // namespace pto

// Fixpipe conversions: names of the device language, outside any namespace. The numbers from 40 on are of this header.
PTO_HOST_PLAIN_ENUM(QuantMode_t, int, NoQuant = 0, F322F16 = 1, VREQ8 = 2, REQ8 = 3, VDEQF16 = 4, DEQF16 = 5,
                    VSHIFTS322S16 = 12, SHIFTS322S16 = 13, F322BF16 = 16, VQF322B8_PRE = 23, QF322B8_PRE = 24,
                    QF322F16_PRE = 32, QF322BF16_PRE = 34, QS322BF16_PRE = 35, VQS322BF16_PRE = 36,
                    QF322HIF8_PRE = 40, QF322FP8_PRE = 41)

#endif
