// Runs the halves of a kernel, one thread a core, in a process of its own. Knows nothing of the vendor's headers.
//
// Works in the current folder: reads `job.txt` and `arg<i>.bin`, loads `cube.so` and `vector.so` from the folder above;
// writes the buffers back, and the time to `seconds.txt`.
// Ends with 0, or with one of the codes below after a message on the error stream.

#include "abi.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace {

enum ExitCode { Unusable = 120, Faulty = 121, TooSlow = 122 };

struct CoreState {
    VendorCore core;
    VendorEntry entry;
    bool done = false;
    const char* waits = nullptr; // what for, or null
    uint64_t waits_id = 0;
    std::array<uint32_t, 32> flags{};                 // counters of arrived signals, by id
    std::array<std::array<uint32_t, 16>, 3> sent{};   // signals not yet matched by the group's other cores, by mode and id
};

struct Barrier {
    uint32_t arrived = 0, generation = 0;
};

struct Argument {
    VendorSlot slot{};
    size_t size = 0;
    char* begin = nullptr; // ends where a page does
    char* page = nullptr;  // filled up to `begin`
};

std::mutex lock;
std::condition_variable changed;
std::vector<CoreState> cores;
std::vector<Argument> arguments;
std::map<std::pair<int, const void*>, Barrier> barriers;
std::map<std::tuple<uint32_t, uint64_t, size_t>, std::unique_ptr<char[]>> pipes;
thread_local CoreState* self = nullptr;

[[noreturn]] void unusable(const char* what, const char* name) {
    std::fprintf(stderr, "%s: %s\n", what, name);
    std::fflush(nullptr);
    _exit(Unusable);
}

const char* core_kind(const CoreState& state) { return state.core.cube ? "cube" : "vector"; }

void take_flag(const char* what, uint64_t id) {
    std::unique_lock guard(lock);
    self->waits = what;
    self->waits_id = id;
    changed.wait(guard, [id] { return self->flags[id] > 0; });
    self->waits = nullptr;
    --self->flags[id];
}

// Counts a signal of this core; once every core of the group has sent one, each target gets one.
template <class Group, class Target>
void gather(uint32_t mode, uint64_t id, Group in_group, Target is_target) {
    std::scoped_lock guard(lock);
    ++self->sent[mode][id];
    for (const CoreState& other : cores) {
        if (in_group(other) && other.sent[mode][id] == 0) return;
    }
    for (CoreState& other : cores) {
        if (in_group(other)) --other.sent[mode][id];
        if (is_target(other)) ++other.flags[id];
    }
    changed.notify_all();
}

bool same_block(const CoreState& other) { return other.core.block == self->core.block; }
bool same_kind(const CoreState& other) { return other.core.cube == self->core.cube; }

// Space around each buffer that the kernel must not touch, so that a wrong index is caught and not just wrong.
constexpr size_t Guard = size_t(1) << 30;
constexpr char Fill = '\xa5';

void allocate(Argument& argument) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t whole = (argument.size + page - 1) / page * page;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* space = mmap(nullptr, whole + 2 * Guard, PROT_NONE, flags, -1, 0);
    if (space == MAP_FAILED) unusable("no memory for", "an argument");
    argument.page = static_cast<char*>(space) + Guard;
    argument.begin = argument.page + (whole - argument.size);
    if (whole == 0) return;
    if (mprotect(argument.page, whole, PROT_READ | PROT_WRITE) != 0) unusable("no memory for", "an argument");
    std::memset(argument.page, Fill, whole - argument.size);
}

// Stray writes into the rest of the page before a buffer, which is not protected.
void check_fill(size_t index, const Argument& argument) {
    for (const char* at = argument.page; at < argument.begin; ++at) {
        if (*at == Fill) continue;
        std::fprintf(stderr, "the kernel wrote byte %lld of argument %zu\n", static_cast<long long>(at - argument.begin), index);
        std::fflush(nullptr);
        _exit(Faulty);
    }
}

void on_fault(int, siginfo_t* info, void*) {
    const char* address = static_cast<const char*>(info->si_addr);
    char text[200];
    int length = std::snprintf(text, sizeof text, "the kernel accessed memory that is not its own, at %p\n", info->si_addr);
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Argument& argument = arguments[i];
        if (argument.begin == nullptr || address < argument.begin - Guard) continue;
        if (address >= argument.begin + argument.size + Guard) continue;
        length = std::snprintf(text, sizeof text, "the kernel accessed byte %lld of argument %zu, which has %zu bytes\n",
                               static_cast<long long>(address - argument.begin), i, argument.size);
    }
    [[maybe_unused]] ssize_t written = write(2, text, size_t(length));
    _exit(Faulty);
}

void read_buffer(size_t index, Argument& argument) {
    allocate(argument);
    argument.slot.pointer = argument.begin;
    const std::string name = "arg" + std::to_string(index) + ".bin";
    FILE* file = std::fopen(name.c_str(), "rb");
    if (file == nullptr || std::fread(argument.begin, 1, argument.size, file) != argument.size) {
        unusable("cannot read", name.c_str());
    }
    std::fclose(file);
}

void write_buffer(size_t index, const Argument& argument) {
    check_fill(index, argument);
    const std::string name = "arg" + std::to_string(index) + ".bin";
    FILE* file = std::fopen(name.c_str(), "wb");
    if (file == nullptr || std::fwrite(argument.begin, 1, argument.size, file) != argument.size || std::fclose(file) != 0) {
        unusable("cannot write", name.c_str());
    }
}

// The simulator declares some functions that it does not define; that shows only here.
[[noreturn]] void cannot_load(const char* message) {
    const char* mark = "undefined symbol: ";
    const char* symbol = std::strstr(message, mark);
    if (symbol == nullptr) unusable("cannot load", message);
    symbol += std::strlen(mark);
    const char* readable = abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr);
    unusable("the simulator does not define", readable != nullptr ? readable : symbol);
}

VendorEntry load(const char* name) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) cannot_load(dlerror());
    void* entry = dlsym(library, "vendor_entry");
    if (entry == nullptr) unusable("no vendor_entry in", name);
    return reinterpret_cast<VendorEntry>(entry);
}

struct Job {
    bool a5 = false;
    uint32_t blocks = 1;
    double limit = 60;
    VendorEntry cube = nullptr, vector = nullptr;
};

Job read_job() {
    Job job;
    FILE* file = std::fopen("job.txt", "r");
    if (file == nullptr) unusable("cannot read", "job.txt");
    char key[32];
    while (std::fscanf(file, "%31s", key) == 1) {
        const auto is = [&key](const char* name) { return std::strcmp(key, name) == 0; };
        Argument argument;
        long long integer = 0;
        bool read = true;
        if (is("a5")) job.a5 = true;
        else if (is("blocks")) read = std::fscanf(file, "%u", &job.blocks) == 1;
        else if (is("limit")) read = std::fscanf(file, "%lf", &job.limit) == 1;
        else if (is("cube")) job.cube = load("../cube.so");
        else if (is("vector")) job.vector = load("../vector.so");
        else {
            if (is("buffer")) {
                argument.slot.kind = VendorSlot::Buffer;
                read = std::fscanf(file, "%zu", &argument.size) == 1;
                if (read) read_buffer(arguments.size(), argument);
            } else if (is("integer")) {
                argument.slot.kind = VendorSlot::Integer;
                read = std::fscanf(file, "%lld", &integer) == 1;
                argument.slot.integer = integer;
            } else if (is("real")) {
                argument.slot.kind = VendorSlot::Real;
                unsigned long long bits = 0;
                read = std::fscanf(file, "%llx", &bits) == 1;
                std::memcpy(&argument.slot.real, &bits, sizeof bits);
            } else if (is("block_index")) argument.slot.kind = VendorSlot::BlockIndex;
            else if (is("block_count")) argument.slot.kind = VendorSlot::BlockCount;
            else if (is("subblock_index")) argument.slot.kind = VendorSlot::SubblockIndex;
            else read = false;
            arguments.push_back(argument);
        }
        if (!read) unusable("job.txt has an unknown line", key);
    }
    std::fclose(file);
    return job;
}

void make_cores(const Job& job) {
    const uint32_t subblocks = job.cube != nullptr ? 2 : 1;
    for (uint32_t block = 0; block < job.blocks; ++block) {
        if (job.cube != nullptr) cores.push_back({{block, job.blocks, 0, 1, true}, job.cube});
        for (uint32_t sub = 0; job.vector != nullptr && sub < subblocks; ++sub) {
            cores.push_back({{block, job.blocks, sub, subblocks, false}, job.vector});
        }
    }
}

[[noreturn]] void give_up(double limit) {
    std::fprintf(stderr, "not finished after %g seconds\n", limit);
    for (const CoreState& state : cores) {
        if (state.done) continue;
        std::fprintf(stderr, "block %u %s %u: ", state.core.block, core_kind(state), state.core.subblock);
        if (state.waits == nullptr) std::fprintf(stderr, "runs, or waits in a pipe\n");
        else std::fprintf(stderr, "waits for %s %llu\n", state.waits, static_cast<unsigned long long>(state.waits_id));
    }
    std::fflush(nullptr);
    _exit(TooSlow);
}

void run_core(CoreState& state, const std::vector<VendorSlot>& slots, bool a5) {
    self = &state;
    state.entry(slots.data(), int(slots.size()), &state.core, a5);
    std::scoped_lock guard(lock);
    state.done = true;
    changed.notify_all();
}

double run(const Job& job) {
    std::vector<VendorSlot> slots;
    for (const Argument& argument : arguments) slots.push_back(argument.slot);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (CoreState& state : cores) threads.emplace_back(run_core, std::ref(state), std::cref(slots), job.a5);
    {
        std::unique_lock guard(lock);
        const auto finished = [] {
            for (const CoreState& state : cores) if (!state.done) return false;
            return true;
        };
        if (!changed.wait_until(guard, begin + std::chrono::duration<double>(job.limit), finished)) give_up(job.limit);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    for (std::thread& thread : threads) thread.join();
    return seconds.count();
}

} // namespace

extern "C" {

// Modes: 0 all cores of one kind, 1 the vector cores of a block, 2 between the cube and the vector cores of a block,
// where a signal of the cube reaches both, and the cube gets one once both have sent theirs.
void vendor_send_message(uint64_t message) {
    const uint32_t mode = (message >> 4) & 3;
    const uint64_t id = (message >> 8) & 15;
    const auto alone = [](const CoreState& other) { return &other == self; };
    const auto siblings = [](const CoreState& other) { return same_block(other) && same_kind(other); };
    const auto partners = [](const CoreState& other) { return same_block(other) && !same_kind(other); };
    if (mode == 0) gather(mode, id, same_kind, same_kind);
    else if (mode == 1) gather(mode, id, siblings, siblings);
    else if (mode == 2 && self->core.cube) gather(mode, id, alone, partners);
    else if (mode == 2) gather(mode, id, siblings, partners);
    else vendor_fail("a cross-core signal has an unknown mode");
}

void vendor_wait_flag(uint64_t id) {
    if (id >= 16) vendor_fail("wait_flag_dev: the flag id is not below 16");
    take_flag("flag", id);
}

// A vector core counts 16 ids; the cube sees those of the second vector core as 16 to 31.
void vendor_set_intra_block(uint64_t id) {
    if (id >= (self->core.cube ? 32u : 16u)) vendor_fail("set_intra_block: the id is too large");
    std::scoped_lock guard(lock);
    for (CoreState& other : cores) {
        if (!same_block(other) || same_kind(other)) continue;
        if (!self->core.cube) ++other.flags[id + 16 * self->core.subblock];
        else if (other.core.subblock == id / 16) ++other.flags[id % 16];
    }
    changed.notify_all();
}

void vendor_wait_intra_block(uint64_t id) {
    if (id >= (self->core.cube ? 32u : 16u)) vendor_fail("wait_intra_block: the id is too large");
    take_flag("block signal", id);
}

void vendor_barrier(int kind, const void* workspace, int32_t used) {
    uint32_t wanted = uint32_t(used);
    if (used <= 0) {
        wanted = 0;
        for (const CoreState& state : cores) wanted += kind == 2 || state.core.cube == (kind == 1);
    }
    std::unique_lock guard(lock);
    Barrier& barrier = barriers[{kind, workspace}];
    if (++barrier.arrived >= wanted) {
        barrier.arrived = 0;
        ++barrier.generation;
        changed.notify_all();
        return;
    }
    const uint32_t generation = barrier.generation;
    self->waits = "the barrier of this many cores:";
    self->waits_id = wanted;
    changed.wait(guard, [&] { return barrier.generation != generation; });
    self->waits = nullptr;
}

void vendor_fail(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::fflush(nullptr);
    _exit(Faulty);
}

uint32_t vendor_subblockdim() { return self->core.subblocks; }

// Hooks that the vendor's simulator looks up by name.

// It is told that there is one vector core, which concerns only pipes whose tiles are not split: else it would wait for
// the second one to take them too, and it gives that one zeroes in any case.
void pto_cpu_sim_get_execution_context(uint32_t* block, uint32_t* subblock, uint32_t* subblocks) {
    *block = self == nullptr ? 0 : self->core.block;
    *subblock = self == nullptr ? 0 : self->core.subblock;
    *subblocks = 1;
}

// The pipes of a block are shared by its cores, which are in different shared objects.
void* pto_sim_get_pipe_shared_state(uint64_t key, size_t size) {
    constexpr size_t alignment = 64;
    std::scoped_lock guard(lock);
    auto& storage = pipes[{self == nullptr ? 0 : self->core.block, key, size}];
    if (storage == nullptr) storage = std::make_unique<char[]>(size + alignment); // zeroes
    const auto address = reinterpret_cast<uintptr_t>(storage.get());
    return reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment);
}

} // extern "C"

int main() {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);

    const Job job = read_job();
    make_cores(job);
    if (cores.empty()) unusable("job.txt names no half", "cube or vector");
    const double seconds = run(job);

    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].slot.kind == VendorSlot::Buffer) write_buffer(i, arguments[i]);
    }
    FILE* file = std::fopen("seconds.txt", "w");
    if (file == nullptr || std::fprintf(file, "%.9f\n", seconds) < 0 || std::fclose(file) != 0) {
        unusable("cannot write", "seconds.txt");
    }
    std::fflush(nullptr);
    _exit(0); // the simulator's leftovers, such as unfinished pipes, need no tidying
}
