// Communication between devices: remote put and get, signals, collectives, asynchronous transfers.
#ifndef PTO_HOST_COMM_HPP
#define PTO_HOST_COMM_HPP

namespace pto {
namespace comm {

PTO_HOST_ENUM(NotifyOp, uint8_t, AtomicAdd = 0, Set = 1)
PTO_HOST_ENUM(WaitCmp, uint8_t, EQ = 0, NE = 1, GT = 2, GE = 3, LT = 4, LE = 5)
PTO_HOST_ENUM(ReduceOp, uint8_t, Sum = 0, Max = 1, Min = 2)
PTO_HOST_ENUM(DmaEngine, uint8_t, SDMA = 0, URMA = 1, RDMA = 2)

template <class Global>
struct ParallelGroup {
    using value_type = Global;
    Global* tensors = nullptr;
    int nranks = 0;
    int rootIdx = -1;

    constexpr ParallelGroup() = default;
    constexpr ParallelGroup(Global* members, int size, int root) : tensors(members), nranks(size), rootIdx(root) {}
    static constexpr ParallelGroup Create(Global* members, int size, int root) { return {members, size, root}; }
    constexpr int GetRootIdx() const { return rootIdx; }
    constexpr int GetSize() const { return nranks; }
    constexpr bool empty() const { return nranks == 0; }
    constexpr Global& operator[](int rank) { return tensors[rank]; }
};

using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>, Layout::ND>;

// A transfer queue; the runtime keeps its state behind `host_handle`.
struct AsyncSession {
    DmaEngine engine = DmaEngine::SDMA;
    bool valid = false;
    uint64_t host_handle = 0;
};

// How an SDMA queue is set up: bytes of a request, offset into the workspace, queues of a core.
namespace sdma {
struct SdmaBaseConfig {
    uint64_t block_bytes;
    uint64_t comm_block_offset;
    uint32_t queue_num;
};
} // namespace sdma

struct AsyncEvent {
    uint64_t handle = 0;
    DmaEngine engine = DmaEngine::SDMA;
    constexpr bool valid() const { return handle != 0; }
    PTO_INTERNAL bool Wait(const AsyncSession& session, PTO_SITE) const {
        return pto_host::ask<bool>("AsyncEvent::Wait", site, handle, engine, pto_host::memory(session));
    }
    PTO_INTERNAL bool Test(const AsyncSession& session, PTO_SITE) const {
        return pto_host::ask<bool>("AsyncEvent::Test", site, handle, engine, pto_host::memory(session));
    }
};

template <class T>
struct is_group : std::false_type {};
template <class G>
struct is_group<ParallelGroup<G>> : std::true_type {};

} // namespace comm

struct PrefetchAsyncContext {
    __gm__ uint8_t* workspace = nullptr;
    comm::AsyncSession session;
    constexpr PrefetchAsyncContext() = default;
    constexpr explicit PrefetchAsyncContext(__gm__ uint8_t* space) : workspace(space) {}
};

template <class Global>
PTO_INST comm::AsyncEvent TPREFETCH_ASYNC(Global& src, PrefetchAsyncContext& context, PTO_SITE) {
    PTO_WANT(TPREFETCH_ASYNC, src, Global, global);
    return pto_host::ask<comm::AsyncEvent>("TPREFETCH_ASYNC", site, src, pto_host::memory(context));
}

} // namespace pto

namespace pto_host {

template <class T>
constexpr bool group = pto::comm::is_group<T>::value;

// A group operand: shape {ranks, root}, element type, width and layout of its members, address of the array of members.
template <class G>
struct Describe<pto::comm::ParallelGroup<G>, void> {
    static PTO_INTERNAL Operand of(const pto::comm::ParallelGroup<G>& group) {
        Operand o{};
        o.kind = Kind::Group;
        o.element = element_of<typename G::RawDType>;
        o.element_bytes = sizeof(typename G::RawDType);
        o.layout = uint8_t(G::layout);
        o.rank = 2;
        o.address = uint64_t(group.tensors);
        o.shape[0] = group.nranks;
        o.shape[1] = group.rootIdx;
        o.stride[0] = sizeof(G); // bytes between members; each begins with data pointer, shape, stride and place
        return o;
    }
};

// An argument of BuildAsyncSession: the session itself is filled in place.
template <class T>
PTO_INTERNAL Operand session_operand(T& argument) {
    if constexpr (std::is_same_v<T, pto::comm::AsyncSession>) {
        return memory(argument);
    } else {
        return operand(argument);
    }
}

template <class Signal>
constexpr bool signal() {
    if constexpr (global<Signal>) {
        return std::is_same_v<typename Signal::RawDType, int32_t>;
    } else {
        return false;
    }
}

} // namespace pto_host

#define PTO_HOST_SAYS_group "a ParallelGroup"
#define PTO_SIGNAL(OP, TYPE) static_assert(::pto_host::signal<TYPE>(), #OP ": a signal is a GlobalTensor of int32_t")

namespace pto {
namespace comm {

// ---- put and get: through one staging tile, or two in turn --------------------------------------------------------
#define PTO_REMOTE_BODY(OP)                                                        \
    PTO_WANT(OP, dst, Dst, global);                                                \
    PTO_WANT(OP, src, Src, global);                                                \
    PTO_WANT(OP, staging, Data, vec)

template <AtomicType Atomic = AtomicType::AtomicNone, class Dst, class Src, class Data>
PTO_INST RecordEvent TPUT(Dst& dst, Src& src, Data& staging, PTO_SITE) {
    PTO_REMOTE_BODY(TPUT);
    return pto_host::record("TPUT", site, dst, src, staging, pto_host::Operand{}, Atomic);
}
template <class Dst, class Src, class Data>
PTO_INST RecordEvent TPUT(Dst& dst, Src& src, Data& staging, AtomicType atomic, PTO_SITE) {
    PTO_REMOTE_BODY(TPUT);
    return pto_host::record("TPUT", site, dst, src, staging, pto_host::Operand{}, atomic);
}
template <AtomicType Atomic = AtomicType::AtomicNone, class Dst, class Src, class Data>
PTO_INST RecordEvent TPUT(Dst& dst, Src& src, Data& staging, Data& pong, PTO_SITE) {
    PTO_REMOTE_BODY(TPUT);
    return pto_host::record("TPUT", site, dst, src, staging, pong, Atomic);
}
template <class Dst, class Src, class Data>
PTO_INST RecordEvent TGET(Dst& dst, Src& src, Data& staging, PTO_SITE) {
    PTO_REMOTE_BODY(TGET);
    return pto_host::record("TGET", site, dst, src, staging, pto_host::Operand{});
}
template <class Dst, class Src, class Data>
PTO_INST RecordEvent TGET(Dst& dst, Src& src, Data& staging, Data& pong, PTO_SITE) {
    PTO_REMOTE_BODY(TGET);
    return pto_host::record("TGET", site, dst, src, staging, pong);
}

// ---- signals ------------------------------------------------------------------------------------------------------
template <class Target>
PTO_INST void TNOTIFY(Target& signal, int32_t value, NotifyOp op, PTO_SITE) {
    PTO_SIGNAL(TNOTIFY, Target);
    pto_host::record("TNOTIFY", site, signal, value, op);
}
template <class Target>
PTO_INST void TWAIT(Target& signal, int32_t value, WaitCmp comparison, PTO_SITE) {
    PTO_SIGNAL(TWAIT, Target);
    pto_host::record("TWAIT", site, signal, value, comparison);
}
template <class Target>
PTO_INST bool TTEST(Target& signal, int32_t value, WaitCmp comparison, PTO_SITE) {
    PTO_SIGNAL(TTEST, Target);
    return pto_host::ask<bool>("TTEST", site, signal, value, comparison);
}

// ---- collectives: group, the root's tensor, one staging tile or two -------------------------------------------------
#define PTO_COLLECTIVE(OP)                                                                                 \
    template <class Group, class Global, class Data>                                                       \
    PTO_INST RecordEvent OP(Group& group, Global& tensor, Data& staging, PTO_SITE) {                       \
        PTO_WANT(OP, group, Group, group);                                                                 \
        PTO_WANT(OP, tensor, Global, global);                                                              \
        PTO_WANT(OP, staging, Data, vec);                                                                  \
        return pto_host::record("comm::" #OP, site, group, tensor, staging, pto_host::Operand{});          \
    }                                                                                                      \
    template <class Group, class Global, class Data>                                                       \
    PTO_INST RecordEvent OP(Group& group, Global& tensor, Data& staging, Data& pong, PTO_SITE) {           \
        PTO_WANT(OP, group, Group, group);                                                                 \
        PTO_WANT(OP, tensor, Global, global);                                                              \
        PTO_WANT(OP, staging, Data, vec);                                                                  \
        return pto_host::record("comm::" #OP, site, group, tensor, staging, pong);                         \
    }

PTO_COLLECTIVE(TGATHER)
PTO_COLLECTIVE(TSCATTER)
PTO_COLLECTIVE(TBROADCAST)

#define PTO_REDUCE_BODY                         \
    PTO_WANT(TREDUCE, group, Group, group);     \
    PTO_WANT(TREDUCE, tensor, Global, global);  \
    PTO_WANT(TREDUCE, accumulator, Data, vec)

template <class Group, class Global, class Data>
PTO_INST RecordEvent TREDUCE(Group& group, Global& tensor, Data& accumulator, Data& receive, ReduceOp op, PTO_SITE) {
    PTO_REDUCE_BODY;
    return pto_host::record("comm::TREDUCE", site, group, tensor, accumulator, receive, pto_host::Operand{}, op);
}
template <class Group, class Global, class Data>
PTO_INST RecordEvent TREDUCE(Group& group, Global& tensor, Data& accumulator, Data& ping, Data& pong, ReduceOp op,
                             PTO_SITE) {
    PTO_REDUCE_BODY;
    return pto_host::record("comm::TREDUCE", site, group, tensor, accumulator, ping, pong, op);
}

// ---- asynchronous transfers -----------------------------------------------------------------------------------------
// Builds a session of the SDMA engine: the queue lives in the scratch tile.
template <DmaEngine Engine = DmaEngine::SDMA, class Scratch,
          class = std::enable_if_t<Engine == DmaEngine::SDMA && is_tile_data_v<Scratch>>>
PTO_INST bool BuildAsyncSession(Scratch& scratch, __gm__ uint8_t* workspace, AsyncSession& session,
                                uint32_t sync_id = 0, const sdma::SdmaBaseConfig& config = {32 * 1024, 0, 1},
                                uint32_t channel_group = UINT32_MAX, PTO_SITE) {
    PTO_WANT(BuildAsyncSession, scratch, Scratch, vec);
    return pto_host::ask<bool>("BuildAsyncSession", site, scratch, workspace, pto_host::memory(session), sync_id,
                               pto_host::memory(config), channel_group, Engine);
}
// The other engines, from whatever each of them wants.
template <DmaEngine Engine = DmaEngine::SDMA, class First, class... Rest,
          class = std::enable_if_t<!(Engine == DmaEngine::SDMA && is_tile_data_v<std::decay_t<First>>)>>
PTO_INST bool BuildAsyncSession(First&& first, Rest&&... rest) {
    return pto_host::ask<bool>("BuildAsyncSession", pto_host::Site{}, pto_host::session_operand(first),
                               pto_host::session_operand(rest)..., Engine);
}

#define PTO_ASYNC(OP)                                                                                          \
    template <DmaEngine Engine = DmaEngine::SDMA, class Dst, class Src>                                        \
    PTO_INST AsyncEvent OP(Dst& dst, Src& src, const AsyncSession& session, PTO_SITE) {                        \
        PTO_WANT(OP, dst, Dst, global);                                                                        \
        PTO_WANT(OP, src, Src, global);                                                                        \
        return pto_host::ask<AsyncEvent>(#OP, site, dst, src, pto_host::memory(session), Engine);              \
    }

PTO_ASYNC(TPUT_ASYNC)
PTO_ASYNC(TGET_ASYNC)

} // namespace comm
} // namespace pto

#endif
