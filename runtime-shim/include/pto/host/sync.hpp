// TSYNC: a barrier of the pipe that an instruction runs on. Waiting for event objects is not modelled.
#ifndef PTO_HOST_SYNC_HPP
#define PTO_HOST_SYNC_HPP

namespace pto {

// Tags of instructions, by the pipe they run on where one instruction has several.
PTO_HOST_ENUM(Op, uint16_t,
              TLOAD, TSTORE_VEC, SCALAR, TRESHAPE, VECTOR, TADD, TADDS, TAXPY, TSUB, TMUL, TMULS, TDIV, TDIVS,
              TMIN, TMINS, TMAX, TAND, TOR, TSEL, TSHL, TSHR, TEXP, TSELS, TSQRT, TRSQRT, TEXPANDS,
              TEXPANDS_MAT, TPARTADD, TPARTMUL, TPARTMAX, TPARTMIN, TPOW, TPOWS, TCMPS, TMRGSORT, TSORT32,
              TCI, TGATHER, TGATHERB, TCVT, TROWSUM, TROWPROD, TROWMAX, TROWMIN, TROWEXPAND, TRANDOM, TCOLSUM,
              TCOLPROD, TCOLMAX, TCOLMIN, TTRANS, TTRI, TREM, TFMOD, TREMS, TFMODS, TSUBS, TMAXS, TLRELU,
              TPRELU, TMOV_V2V, TMOV_V2M, TEXTRACT_V2M, TMOV_M2B, TMOV_M2L, TMOV_M2R, TMOV_M2S, TMOV_A2V,
              TMOV_A2M, TSTORE_ACC, TSTORE_MAT, TMATMUL, TGEMV, TEXTRACT_M2LR, TANDS, TORS, TSHLS, TSHRS,
              TXOR, TXORS, TEXTRACT_A2M, TINSERT_A2M, TIMG2COL, SETFMATRIX, SET_IMG2COL_RPT,
              SET_IMG2COL_PADDING, TCONCAT, TDEQUANT, TADDDEQRELU, TABS, TNEG, TRELU, TNOT, TLOG, TRECIP,
              TCMP, TSCATTER, TCOLEXPAND, TCOLEXPANDDIV, TCOLEXPANDMUL, TCOLEXPANDADD, TCOLEXPANDMAX,
              TCOLEXPANDMIN, TCOLEXPANDSUB, TCOLEXPANDEXPDIF, TROWEXPANDDIV, TROWEXPANDMUL, TROWEXPANDSUB,
              TROWEXPANDADD, TROWEXPANDMAX, TROWEXPANDMIN, TROWEXPANDEXPDIF, TPAIRREDUCESUM, TSUBRELUCONV,
              TADDRELUCONV, TFUSEDMULADD, TMULADDDST, TSUBRELU, TFUSEDMULADDRELU, TPARTARGMAX, TPARTARGMIN,
              TCOLARGMAX, TCOLARGMIN, TROWARGMAX, TROWARGMIN, TPREFETCH, TFILLPAD_VEC, TFILLPAD_MAT,
              MGATHER_VEC, MGATHER_MAT, MSCATTER, TQUANT, THISTOGRAM, TINTERLEAVE, TDEINTERLEAVE, OP_COUNT)

// From A5 on the vector pipe orders itself: only the copies to and from global memory have a barrier.
constexpr bool host_has_barrier(Op op) {
    const bool copies = op == Op::TLOAD || op == Op::TSTORE_VEC || op == Op::TSTORE_MAT || op == Op::TPREFETCH ||
                        op == Op::TEXPANDS_MAT || op == Op::TFILLPAD_MAT || op == Op::MGATHER_MAT;
    return pto_host::this_arch != pto_host::A5 || copies;
}

// Pipe of an instruction, by its tag: the vector pipe but for these.
constexpr pipe_t host_pipe_of(Op op) {
    switch (op) {
        case Op::TLOAD: case Op::TPREFETCH: case Op::TEXPANDS_MAT: case Op::TFILLPAD_MAT: case Op::MGATHER_MAT:
            return PIPE_MTE2;
        case Op::TSTORE_VEC: case Op::TSTORE_MAT:
            return PIPE_MTE3;
        case Op::TMOV_M2B: case Op::TMOV_M2L: case Op::TMOV_M2R: case Op::TEXTRACT_M2LR: case Op::TIMG2COL:
            return PIPE_MTE1;
        case Op::TMATMUL: case Op::TGEMV:
            return PIPE_M;
        case Op::TSTORE_ACC: case Op::TMOV_A2V: case Op::TMOV_A2M: case Op::TMOV_M2S: case Op::TMOV_V2M:
        case Op::TEXTRACT_V2M: case Op::TEXTRACT_A2M: case Op::TINSERT_A2M:
            return PIPE_FIX;
        case Op::SCALAR: case Op::TRESHAPE: case Op::TCI: case Op::SETFMATRIX: case Op::SET_IMG2COL_RPT:
        case Op::SET_IMG2COL_PADDING:
            return PIPE_S;
        default:
            return PIPE_V;
    }
}

template <Op OpCode>
PTO_INST void TSYNC(PTO_SITE) {
    static_assert(OpCode != Op::OP_COUNT && host_has_barrier(OpCode),
                  "TSYNC: this architecture has no barrier for the pipe of this instruction");
    pto_host::record("TSYNC", site, host_pipe_of(OpCode));
}

} // namespace pto

#endif
