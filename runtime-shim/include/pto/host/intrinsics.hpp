// Functions of the device language: flags, barriers, cache control, core ids, masks; and scalar access to a tile.
#ifndef PTO_HOST_INTRINSICS_HPP
#define PTO_HOST_INTRINSICS_HPP

PTO_HOST_PLAIN_ENUM(pipe_t, int, PIPE_S = 0, PIPE_V = 1, PIPE_MTE1 = 2, PIPE_MTE2 = 3, PIPE_MTE3 = 4, PIPE_M = 5,
                    PIPE_ALL = 6, PIPE_FIX = 7, PIPE_MTE4 = 8, PIPE_MTE5 = 9)
PTO_HOST_PLAIN_ENUM(event_t, int, EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6,
                    EVENT_ID7)
constexpr int EVENT_ID_MAX = 8;

PTO_HOST_PLAIN_ENUM(mem_dsb_t, int, DSB_ALL = 0, DSB_DDR = 1, DSB_UB = 2, DSB_SEQ = 3)
PTO_HOST_ENUM(cache_line_t, int, SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1)
PTO_HOST_ENUM(dcci_dst_t, int, CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3)
constexpr cache_line_t SINGLE_CACHE_LINE = cache_line_t::SINGLE_CACHE_LINE;
constexpr cache_line_t ENTIRE_DATA_CACHE = cache_line_t::ENTIRE_DATA_CACHE;
constexpr dcci_dst_t CACHELINE_ALL = dcci_dst_t::CACHELINE_ALL;
constexpr dcci_dst_t CACHELINE_OUT = dcci_dst_t::CACHELINE_OUT;

// An event id: an enumerator, or a number known at run time.
template <class Event>
PTO_INTERNAL event_t host_event(Event id) {
    static_assert(std::is_same_v<Event, event_t> || std::is_integral_v<Event>, "an event id is an event_t or a number");
    return event_t(id);
}

template <class Event>
PTO_INST void set_flag(pipe_t source, pipe_t destination, Event id, PTO_SITE) {
    pto_host::record("set_flag", site, source, destination, host_event(id));
}
template <class Event>
PTO_INST void wait_flag(pipe_t source, pipe_t destination, Event id, PTO_SITE) {
    pto_host::record("wait_flag", site, source, destination, host_event(id));
}

// One line an intrinsic: PTO_HOST_INTRINSIC(name, parameters, arguments...).
#define PTO_HOST_UNPACK(...) __VA_ARGS__
#define PTO_HOST_INTRINSIC(NAME, PARAMETERS, ...) \
    PTO_INST void NAME(PTO_HOST_UNPACK PARAMETERS, PTO_SITE) { pto_host::record(#NAME, site, __VA_ARGS__); }
#define PTO_HOST_QUESTION(TYPE, NAME) \
    PTO_INST TYPE NAME(PTO_SITE) { return pto_host::ask<TYPE>(#NAME, site); }

PTO_HOST_INTRINSIC(pipe_barrier, (pipe_t pipe), pipe)
PTO_HOST_INTRINSIC(set_intra_block, (pipe_t pipe, uint64_t id), pipe, id)
PTO_HOST_INTRINSIC(wait_intra_block, (pipe_t pipe, uint64_t id), pipe, id)
PTO_HOST_INTRINSIC(ffts_cross_core_sync, (pipe_t pipe, uint64_t message), pipe, message)
PTO_HOST_INTRINSIC(wait_flag_dev, (uint64_t id), id)
PTO_HOST_INTRINSIC(set_ffts_base_addr, (uint64_t address), address)
PTO_HOST_INTRINSIC(get_buf, (pipe_t pipe, uint64_t id, uint64_t mode), pipe, id, mode)
PTO_HOST_INTRINSIC(rls_buf, (pipe_t pipe, uint64_t id, uint64_t mode), pipe, id, mode)
PTO_HOST_INTRINSIC(dsb, (mem_dsb_t kind), kind)
PTO_HOST_INTRINSIC(dcci, (const volatile void* line, cache_line_t scope), line, scope)
PTO_HOST_INTRINSIC(dcci, (const volatile void* line, cache_line_t scope, dcci_dst_t target), line, scope, target)
PTO_HOST_INTRINSIC(set_vector_mask, (uint64_t high, uint64_t low), high, low)
PTO_HOST_INTRINSIC(set_ctrl, (uint64_t value), value)

PTO_INST void set_mask_norm(PTO_SITE) { pto_host::record("set_mask_norm", site); }
PTO_INST void set_mask_count(PTO_SITE) { pto_host::record("set_mask_count", site); }
PTO_INST void set_atomic_none(PTO_SITE) { pto_host::record("set_atomic_none", site); }
PTO_INST void trap(PTO_SITE) { pto_host::record("trap", site); }

PTO_HOST_QUESTION(int64_t, get_block_idx)
PTO_HOST_QUESTION(int64_t, get_block_num)
PTO_HOST_QUESTION(int64_t, get_subblockid)
PTO_HOST_QUESTION(int64_t, get_subblockdim)
PTO_HOST_QUESTION(int64_t, get_coreid)
PTO_HOST_QUESTION(uint64_t, get_ctrl)
PTO_HOST_QUESTION(int64_t, get_sys_cnt)

// The builtin variables. A local variable of the same name hides them, as on the device.
template <int64_t (*Question)(pto_host::Site)>
struct HostBuiltin {
    PTO_INTERNAL operator int64_t() const { return Question(pto_host::Site{}); }
};
constexpr HostBuiltin<get_block_idx> block_idx{};
constexpr HostBuiltin<get_block_num> block_num{};

PTO_INST constexpr uint64_t sbitset1(uint64_t value, int bit) { return value | (uint64_t(1) << bit); }
PTO_INST constexpr uint64_t sbitset0(uint64_t value, int bit) { return value & ~(uint64_t(1) << bit); }

// Spelling of the same intrinsics that emitted code uses where the library's own wrapper is not wanted.
#define __builtin_cce_ffts_cross_core_sync(...) ffts_cross_core_sync(__VA_ARGS__)
#define __builtin_cce_wait_flag_dev(...) wait_flag_dev(__VA_ARGS__)
#define __builtin_cce_set_intra_block(...) set_intra_block(__VA_ARGS__)
#define __builtin_cce_wait_intra_block(...) wait_intra_block(__VA_ARGS__)

// What programs for the vendor's simulator call. The architecture is chosen when the kernel is compiled; naming
// another is reported.
enum class NPUArch { A2A3, A5 };
#if defined(PTO_NPU_ARCH_A5)
#define PTO_HOST_ARCH NPUArch::A5
#else
#define PTO_HOST_ARCH NPUArch::A2A3
#endif
#define NPU_MEMORY_INIT(arch) pto_host::record("NPU_MEMORY_INIT", pto_host::Site::here(), int((arch) == PTO_HOST_ARCH))
#define NPU_MEMORY_CLEAR() pto_host::record("NPU_MEMORY_CLEAR", pto_host::Site::here())

namespace cce {

// The format is recorded with its arguments; the runtime prints.
template <class... Args>
PTO_INST void printf(const char* format, Args... args) {
    pto_host::record("printf", pto_host::Site{}, format, args...);
}

} // namespace cce

namespace pto {

// Message of a cross-core synchronisation: count, mode and flag id in one word.
PTO_INST constexpr uint16_t getFFTSMsg(uint16_t mode, uint16_t id, uint16_t count = 1) {
    return uint16_t((count & 0xf) | ((mode & 0x3) << 4) | ((id & 0xf) << 8));
}

template <TileType L, class E, int R, int C, BLayout B, int VR, int VC, SLayout S, int F, auto P, CompactMode M>
PTO_INTERNAL E Tile<L, E, R, C, B, VR, VC, S, F, P, M>::GetValue(uint32_t offset, pto_host::Site site) {
    static_assert(L == TileType::Vec, "GetValue: only a Vec tile can be read by the scalar unit");
    return pto_host::ask<E>("GetValue", site, *this, offset);
}

template <TileType L, class E, int R, int C, BLayout B, int VR, int VC, SLayout S, int F, auto P, CompactMode M>
PTO_INTERNAL void Tile<L, E, R, C, B, VR, VC, S, F, P, M>::SetValue(uint32_t offset, E value, pto_host::Site site) {
    static_assert(L == TileType::Vec, "SetValue: only a Vec tile can be written by the scalar unit");
    pto_host::record("SetValue", site, *this, offset, value);
}

} // namespace pto

#endif
