// Instructions between global memory and tiles, views of tiles, and whole-core synchronisation.
#ifndef PTO_HOST_OPS_MEMORY_HPP
#define PTO_HOST_OPS_MEMORY_HPP

namespace pto_host {

template <class Tile, class Global>
constexpr bool same_width() {
    return sizeof(typename Tile::DType) == sizeof(typename Global::RawDType);
}

#if defined(PTO_NPU_ARCH_A5)
template <class T>
constexpr bool store_source = vec_or_acc<T>;
#define PTO_HOST_SAYS_store_source "a Vec or Acc tile on this architecture"
#else
template <class T>
constexpr bool store_source = vec_mat_or_acc<T>;
#define PTO_HOST_SAYS_store_source "a Vec, Mat or Acc tile"
#endif

} // namespace pto_host

namespace pto {

template <class Dst, class Src>
PTO_INST RecordEvent TLOAD(Dst& dst, Src& src, PTO_SITE) {
    PTO_WANT(TLOAD, dst, Dst, load_target);
    PTO_WANT(TLOAD, src, Src, global);
    static_assert(pto_host::same_width<Dst, Src>(), "TLOAD: dst and src must have elements of one width");
    return pto_host::record("TLOAD", site, dst, src);
}

// ---- store: recorded as dst, src, scalar quantisation or fixpipe tile (Null when absent), then flags ------------
#define PTO_STORE_BODY(OP)                          \
    PTO_WANT(OP, dst, Global, global);              \
    PTO_WANT(OP, src, Data, store_source);          \
    static_assert(pto_host::acc<Data> || pto_host::same_width<Data, Global>(), \
                  #OP ": dst and src must have elements of one width unless src is an Acc tile")

template <class Data, class Global>
PTO_INST RecordEvent TSTORE(Global& dst, Data& src, PTO_SITE) {
    PTO_STORE_BODY(TSTORE);
    return pto_host::record("TSTORE", site, dst, src, pto_host::Operand{});
}
template <class Data, class Global, AtomicType Atomic, ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TSTORE(Global& dst, Data& src, PTO_SITE) {
    PTO_STORE_BODY(TSTORE);
    return pto_host::record("TSTORE", site, dst, src, pto_host::Operand{}, Atomic, Relu);
}
template <STPhase Phase, class Data, class Global, auto... Flags>
PTO_INST RecordEvent TSTORE(Global& dst, Data& src, PTO_SITE) {
    PTO_STORE_BODY(TSTORE);
    PTO_FLAGS(TSTORE, Flags, AtomicType, ReluPreMode);
    return pto_host::record("TSTORE", site, dst, src, pto_host::Operand{}, Phase, Flags...);
}
template <class Data, class Global, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TSTORE(Global& dst, Data& src, uint64_t quant, PTO_SITE) {
    PTO_STORE_BODY(TSTORE);
    PTO_WANT(TSTORE, src, Data, acc);
    return pto_host::record("TSTORE", site, dst, src, quant, Atomic, Relu);
}
template <STPhase Phase, class Data, class Global, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TSTORE(Global& dst, Data& src, uint64_t quant, PTO_SITE) {
    PTO_STORE_BODY(TSTORE);
    PTO_WANT(TSTORE, src, Data, acc);
    return pto_host::record("TSTORE", site, dst, src, quant, Phase, Atomic, Relu);
}
template <class Data, class Global, class Fp, AtomicType Atomic = AtomicType::AtomicNone,
          ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TSTORE_FP(Global& dst, Data& src, Fp& fp, PTO_SITE) {
    PTO_STORE_BODY(TSTORE_FP);
    PTO_WANT(TSTORE_FP, src, Data, acc);
    PTO_WANT(TSTORE_FP, fp, Fp, scaling);
    return pto_host::record("TSTORE_FP", site, dst, src, fp, Atomic, Relu);
}

template <class Dst, class Src>
PTO_INST RecordEvent TPREFETCH(Dst& dst, Src& src, PTO_SITE) {
    PTO_AVAILABLE(TPREFETCH, A2A3 | A5 | Other, Dst);
    PTO_WANT(TPREFETCH, dst, Dst, load_target);
    PTO_WANT(TPREFETCH, src, Src, global);
    return pto_host::record("TPREFETCH", site, dst, src);
}

// ---- gather-load and scatter-store ------------------------------------------------------------------------------
#define PTO_MGATHER_BODY                                        \
    PTO_AVAILABLE(MGATHER, A2A3 | A5 | Other, Dst);             \
    PTO_WANT(MGATHER, dst, Dst, vec_or_mat);                    \
    PTO_WANT(MGATHER, src, Src, global);                        \
    PTO_WANT(MGATHER, index, Index, tile_or_global);            \
    static_assert(pto_host::same_width<Dst, Src>(), "MGATHER: dst and src must have elements of one width")

template <class Dst, class Src, class Index>
PTO_INST RecordEvent MGATHER(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_MGATHER_BODY;
    return pto_host::record("MGATHER", site, dst, src, index);
}
template <Coalesce Mode, auto... Flags, class Dst, class Src, class Index>
PTO_INST RecordEvent MGATHER(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_MGATHER_BODY;
    PTO_FLAGS(MGATHER, Flags, GatherOOB);
    return pto_host::record("MGATHER", site, dst, src, index, Mode, Flags...);
}
template <Coalesce Mode, auto... Flags, class Dst, class Src, class Index, class Scratch>
PTO_INST RecordEvent MGATHER(Dst& dst, Src& src, Index& index, Scratch& scratch, PTO_SITE) {
    PTO_MGATHER_BODY;
    PTO_FLAGS(MGATHER, Flags, GatherOOB, GatherExec);
    PTO_WANT(MGATHER, index, Index, global);
    PTO_WANT(MGATHER, scratch, Scratch, global);
    return pto_host::record("MGATHER", site, dst, src, index, scratch, Mode, Flags...);
}

#define PTO_MSCATTER_BODY                                       \
    PTO_AVAILABLE(MSCATTER, A2A3 | A5 | Other, Dst);            \
    PTO_WANT(MSCATTER, dst, Dst, global);                       \
    PTO_WANT(MSCATTER, src, Src, vec_mat_or_acc);               \
    PTO_WANT(MSCATTER, index, Index, tile_or_global)

template <class Dst, class Src, class Index>
PTO_INST RecordEvent MSCATTER(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_MSCATTER_BODY;
    return pto_host::record("MSCATTER", site, dst, src, index);
}
template <Coalesce Mode, auto... Flags, class Dst, class Src, class Index>
PTO_INST RecordEvent MSCATTER(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_MSCATTER_BODY;
    PTO_FLAGS(MSCATTER, Flags, ScatterAtomicOp, ScatterOOB, ScatterConflict);
    return pto_host::record("MSCATTER", site, dst, src, index, Mode, Flags...);
}

// ---- views: the destination takes its address from the source ---------------------------------------------------
template <class Dst, class Src>
PTO_INST RecordEvent TRESHAPE(Dst& dst, Src& src, PTO_SITE) {
    PTO_WANT(TRESHAPE, dst, Dst, tile);
    PTO_WANT(TRESHAPE, src, Src, tile);
    static_assert(Dst::Loc == Src::Loc, "TRESHAPE: dst and src must be in the same memory space");
    static_assert(pto_host::storage_bytes<Dst>() == pto_host::storage_bytes<Src>(),
                  "TRESHAPE: dst and src must have the same size in bytes");
    static_assert(Dst::isBoxedLayout == Src::isBoxedLayout, "TRESHAPE: a boxed tile cannot become an unboxed one");
    dst.host_data = (typename Dst::TileDType)(src.host_data);
    return pto_host::record("TRESHAPE", site, dst, src);
}

// Strides are those of the outer layout, for a boxed source too: as on the device.
template <class Dst, class Src>
PTO_INST RecordEvent TSUBVIEW(Dst& dst, Src& src, uint16_t row, uint16_t col, PTO_SITE) {
    PTO_WANT(TSUBVIEW, dst, Dst, tile);
    PTO_WANT(TSUBVIEW, src, Src, tile);
    static_assert(Dst::Loc == Src::Loc, "TSUBVIEW: dst and src must be in the same memory space");
    const uint64_t elements = uint64_t(row) * Src::RowStride + uint64_t(col) * Src::ColStride;
    dst.host_data = (typename Dst::TileDType)(uint64_t(src.host_data) + elements * sizeof(typename Src::DType));
    return pto_host::record("TSUBVIEW", site, dst, src, row, col);
}

// The hardware derives the address of a scale tile from the operand it scales.
template <class Dst, class Src>
PTO_INST RecordEvent TGET_SCALE_ADDR(Dst& dst, Src& src, PTO_SITE) {
    PTO_AVAILABLE(TGET_SCALE_ADDR, A5 | K9030 | Other, Dst);
    static_assert((pto_host::scale_left<Dst> && pto_host::left<Src>) ||
                      (pto_host::scale_right<Dst> && pto_host::right<Src>),
                  "TGET_SCALE_ADDR: a ScaleLeft tile belongs to a Left tile, a ScaleRight tile to a Right tile");
    dst.host_data = (typename Dst::TileDType)(uint64_t(src.host_data) >> 4);
    return pto_host::record("TGET_SCALE_ADDR", site, dst, src);
}

// ---- all cores --------------------------------------------------------------------------------------------------
template <SyncCoreType Cores = SyncCoreType::AIVOnly>
PTO_INST void SYNCALL(PTO_SITE) {
    pto_host::record("SYNCALL", site, SyncAllMode::Hard, Cores);
}
template <SyncAllMode Mode, SyncCoreType Cores = SyncCoreType::AIVOnly, class Global>
PTO_INST void SYNCALL(Global& workspace, int32_t used_cores = 0, PTO_SITE) {
    PTO_WANT(SYNCALL, workspace, Global, global);
    pto_host::record("SYNCALL", site, workspace, used_cores, Mode, Cores);
}

} // namespace pto

#endif
