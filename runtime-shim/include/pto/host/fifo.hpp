// The FIFO between the cube and the vector half of a core: TPipe, and push, pop, free and alloc on it.
#ifndef PTO_HOST_FIFO_HPP
#define PTO_HOST_FIFO_HPP

namespace pto {

// Settings of the fixpipe for a push from Acc.
template <LayoutMode_t Mode = LayoutMode_t::NZ2ND, QuantMode_t Quant = QuantMode_t::NoQuant,
          ReluPreMode Relu = ReluPreMode::NoRelu, STPhase Phase_ = STPhase::Unspecified, uint8_t SubBlock = 0,
          AtomicType Atomic = AtomicType::AtomicNone, ClipReluMode_t Clip = ClipReluMode_t::NOCLIP_RELU,
          bool ChannelSplit = false>
struct FixpipeParams {
    static constexpr LayoutMode_t LayoutMode = Mode;
    static constexpr QuantMode_t QuantPre = Quant;
    static constexpr ReluPreMode ReluMode = Relu;
    static constexpr STPhase Phase = Phase_;
    static constexpr uint8_t SubBlockId = SubBlock;
    static constexpr AtomicType AtomicT = Atomic;
    static constexpr ClipReluMode_t ClipReluMode = Clip;
    static constexpr bool IsChannelSplit = ChannelSplit;
};

// Slot sizes are in bytes. The consumer buffers are byte addresses in the vector (C2V) or L1 (V2C) memory.
template <uint8_t FlagID, uint8_t DirType, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
          bool IsNoSplit = false, bool UnitFlag = false>
struct TPipe {
    static constexpr uint8_t DIR_TYPE = DirType & 7;
    static constexpr uint32_t SyncPeriod = SlotNum <= 2 ? SlotNum : SlotNum / 2;
    static constexpr int flag_count = DIR_TYPE == DIR_BOTH || DIR_TYPE == DIR_BOTH_GM ? 4 : 2;

    static_assert(SlotNum >= 1, "TPipe: at least one slot");
    static_assert(SlotSize > 0, "TPipe: slots have a size");
    static_assert(FlagID + 1 < 16, "TPipe: the flags of the pipe must be below 16");
    static_assert(pto_host::this_arch == pto_host::A5 ? DIR_TYPE != UNDEFINED
                                                      : DIR_TYPE >= DIR_C2V && DIR_TYPE <= DIR_V2C_CTRL,
                  "TPipe: this architecture has no such direction");

    PTO_INTERNAL TPipe(__gm__ void* slots, uint32_t c2v, uint32_t v2c, pto_host::Site site = pto_host::Site::here())
        : gm_slots(slots), c2v_buffer(c2v), v2c_buffer(v2c), host_site(site) {
        pto_host::record("TPipe", site, *this);
    }

    __gm__ void* gm_slots;
    uint32_t c2v_buffer;
    uint32_t v2c_buffer;
    uint64_t host_handle = 0; // the runtime's own
    pto_host::Site host_site;
};

template <class T>
struct is_pipe : std::false_type {};
template <uint8_t F, uint8_t D, uint32_t S, uint32_t N, uint32_t L, bool NoSplit, bool Unit>
struct is_pipe<TPipe<F, D, S, N, L, NoSplit, Unit>> : std::true_type {};

} // namespace pto

namespace pto_host {

template <class T>
constexpr bool pipe = pto::is_pipe<T>::value;
template <class T>
constexpr bool pushable = placed<T, pto::TileType::Acc, pto::TileType::Vec, pto::TileType::Ctrl>();
template <class T>
constexpr bool poppable = placed<T, pto::TileType::Vec, pto::TileType::Mat, pto::TileType::Ctrl>();

// A pipe operand: shape {flag id, direction, slot bytes, slots, local slots, no split}, stride {C2V, V2C address}.
template <uint8_t F, uint8_t D, uint32_t S, uint32_t N, uint32_t L, bool NoSplit, bool Unit>
struct Describe<pto::TPipe<F, D, S, N, L, NoSplit, Unit>, void> {
    static PTO_INTERNAL Operand of(const pto::TPipe<F, D, S, N, L, NoSplit, Unit>& pipe) {
        Operand o{};
        o.kind = Kind::Pipe;
        o.rank = 6;
        o.address = uint64_t(pipe.gm_slots);
        const int64_t shape[6] = {F, D, S, N, L, NoSplit};
        for (int d = 0; d < 6; ++d) o.shape[d] = shape[d];
        o.stride[0] = pipe.c2v_buffer;
        o.stride[1] = pipe.v2c_buffer;
        o.bits = Unit;
        o.slot = const_cast<uint64_t*>(&pipe.host_handle);
        o.site = pipe.host_site;
        return o;
    }
};

} // namespace pto_host

#define PTO_HOST_SAYS_pipe "a TPipe"
#define PTO_HOST_SAYS_pushable "an Acc, Vec or Ctrl tile"
#define PTO_HOST_SAYS_poppable "a Vec, Mat or Ctrl tile"

namespace pto {

// Recorded as: pipe, tile or tensor, sub-block (Null when absent), flags.
#define PTO_FIFO(OP, ROLE)                                                                                        \
    template <class Pipe, class Data, TileSplitAxis Split, std::enable_if_t<is_tile_data_v<Data>, int> = 0>       \
    PTO_INST RecordEvent OP(Pipe& pipe, Data& data, PTO_SITE) {                                                   \
        PTO_WANT(OP, pipe, Pipe, pipe);                                                                           \
        PTO_WANT(OP, tile, Data, ROLE);                                                                           \
        return pto_host::record(#OP, site, pipe, data, pto_host::Operand{}, Split);                               \
    }                                                                                                             \
    template <class Pipe, class Data, TileSplitAxis Split>                                                        \
    PTO_INST RecordEvent OP(Pipe& pipe, Data& data, int32_t sub_block, PTO_SITE) {                                \
        PTO_WANT(OP, pipe, Pipe, pipe);                                                                           \
        PTO_WANT(OP, tile, Data, ROLE);                                                                           \
        return pto_host::record(#OP, site, pipe, data, sub_block, Split);                                         \
    }                                                                                                             \
    template <class Data, class Pipe>                                                                             \
    PTO_INST RecordEvent OP(Data& data, Pipe& pipe, PTO_SITE) {                                                   \
        PTO_WANT(OP, pipe, Pipe, pipe);                                                                           \
        PTO_WANT(OP, tile, Data, ROLE);                                                                           \
        return pto_host::record(#OP, site, pipe, data, pto_host::Operand{}, TILE_NO_SPLIT);                       \
    }                                                                                                             \
    template <class Pipe, class Data, TileSplitAxis Split, std::enable_if_t<is_global_data_v<Data>, int> = 0>     \
    PTO_INST RecordEvent OP(Pipe& pipe, Data& data, PTO_SITE) {                                                   \
        PTO_WANT(OP, pipe, Pipe, pipe);                                                                           \
        return pto_host::record(#OP, site, pipe, data, pto_host::Operand{}, Split);                               \
    }

PTO_FIFO(TPUSH, pushable)
PTO_FIFO(TPOP, poppable)

// A push through the fixpipe, with its settings as a type.
template <class Pipe, class Data, class Config, class = decltype(Config::LayoutMode)>
PTO_INST RecordEvent TPUSH(Pipe& pipe, Data& data, PTO_SITE) {
    PTO_WANT(TPUSH, pipe, Pipe, pipe);
    PTO_WANT(TPUSH, tile, Data, acc);
    return pto_host::record("TPUSH", site, pipe, data, int(Config::SubBlockId), Config::LayoutMode, Config::QuantPre,
                            Config::ReluMode, Config::Phase, Config::AtomicT, Config::ClipReluMode,
                            Config::IsChannelSplit);
}

template <class Pipe, TileSplitAxis Split>
PTO_INST RecordEvent TFREE(Pipe& pipe, PTO_SITE) {
    PTO_WANT(TFREE, pipe, Pipe, pipe);
    return pto_host::record("TFREE", site, pipe, pto_host::Operand{}, Split);
}
template <class Pipe>
PTO_INST RecordEvent TFREE(Pipe& pipe, PTO_SITE) {
    PTO_WANT(TFREE, pipe, Pipe, pipe);
    return pto_host::record("TFREE", site, pipe, pto_host::Operand{}, TILE_NO_SPLIT);
}
template <class Pipe, class Global, TileSplitAxis Split>
PTO_INST RecordEvent TFREE(Pipe& pipe, Global& tensor, PTO_SITE) {
    PTO_WANT(TFREE, pipe, Pipe, pipe);
    PTO_WANT(TFREE, tensor, Global, global);
    return pto_host::record("TFREE", site, pipe, tensor, Split);
}
// Binds the tensor to the next free slot.
template <class Pipe, class Global, TileSplitAxis Split>
PTO_INST RecordEvent TALLOC(Pipe& pipe, Global& tensor, PTO_SITE) {
    PTO_WANT(TALLOC, pipe, Pipe, pipe);
    PTO_WANT(TALLOC, tensor, Global, global);
    return pto_host::record("TALLOC", site, pipe, tensor, Split);
}

} // namespace pto

#endif
