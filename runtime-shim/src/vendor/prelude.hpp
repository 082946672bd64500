// Comes before a kernel: the vendor's headers in their CPU simulation mode, and what that mode lacks.
#ifndef VENDOR_PRELUDE_HPP
#define VENDOR_PRELUDE_HPP

// Standard headers first: they must not see the macro below, which only makes the vendor's bfloat16_t a real one.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#define __STDCPP_BFLOAT16_T__ 1
#include <pto/common/type.hpp>
#undef __STDCPP_BFLOAT16_T__
// Theirs forces every function into its caller: on a host that makes large kernels compile for minutes.
#undef PTO_INLINE
#define PTO_INLINE inline
#include <pto/pto-inst.hpp>

#include "abi.hpp"

// Conversions to bfloat16 that clang calls; not every runtime library has them. Round to nearest, ties to even.
extern "C" __attribute__((weak)) __bf16 __truncsfbf2(float value) {
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    bits = nan ? bits | 0x00400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
    return __builtin_bit_cast(__bf16, uint16_t(bits >> 16));
}
// Through float, rounded to odd so that the second rounding is right.
extern "C" __attribute__((weak)) __bf16 __truncdfbf2(double value) {
    float near = float(value);
    if (std::isfinite(near) && double(near) != value && (__builtin_bit_cast(uint32_t, near) & 1u) == 0) {
        near = std::nextafterf(near, double(near) < value ? INFINITY : -INFINITY);
    }
    return __truncsfbf2(near);
}

// The simulator's functions of the same names, if it gets them one day, are left alone: these are macros.
#define ffts_cross_core_sync(PIPE, MESSAGE) vendor_send_message(MESSAGE)
#define wait_flag_dev(...) vendor_wait_flag(vendor_first(__VA_ARGS__))
#define set_intra_block(PIPE, ID) vendor_set_intra_block(ID)
#define wait_intra_block(PIPE, ID) vendor_wait_intra_block(ID)
#define __builtin_cce_ffts_cross_core_sync(PIPE, MESSAGE) vendor_send_message(MESSAGE)
#define __builtin_cce_wait_flag_dev(...) vendor_wait_flag(vendor_first(__VA_ARGS__))
#define __builtin_cce_set_intra_block(PIPE, ID) vendor_set_intra_block(ID)
#define __builtin_cce_wait_intra_block(PIPE, ID) vendor_wait_intra_block(ID)
#define set_ffts_base_addr(...) ((void)0)
#define get_buf(...) ((void)0)
#define rls_buf(...) ((void)0)
#define set_mask_count(...) ((void)0)
#define trap(...) vendor_fail("the kernel executed trap()")
#define PIPE_MTE4 8
#define PIPE_MTE5 9
#define SYNCALL vendor_sync_all
#define get_subblockdim vendor_subblockdim

template <class... Rest>
constexpr uint64_t vendor_first(uint64_t first, Rest...) { return first; }

// The builtin variables. A local variable of the same name hides them, as on the device.
template <uint32_t (*Question)()>
struct VendorBuiltin {
    operator int64_t() const { return int64_t(Question()); }
};
constexpr VendorBuiltin<get_block_idx> block_idx{};
constexpr VendorBuiltin<get_block_num> block_num{};

namespace pto {

// Declared by the simulator but not defined: the forms with a scratch tile, which it has no use for.
template <class To, class From, class Scratch>
    requires(is_tile_data_v<Scratch>)
inline void TCVT_IMPL(To& to, From& from, Scratch&, RoundMode mode, bool set_ctrl) {
    TCVT_IMPL(to, from, mode, set_ctrl);
}
template <class To, class From, class Scratch>
    requires(is_tile_data_v<Scratch>)
inline void TCVT_IMPL(To& to, From& from, Scratch&, RoundMode mode, SaturationMode saturation, bool set_ctrl) {
    TCVT_IMPL(to, from, mode, saturation, set_ctrl);
}

template <SyncCoreType Cores = SyncCoreType::AIVOnly>
inline void vendor_sync_all() { vendor_barrier(int(Cores), nullptr, 0); }

template <SyncAllMode Mode, SyncCoreType Cores = SyncCoreType::AIVOnly, class Workspace>
inline void vendor_sync_all(Workspace& workspace, int32_t used = 0) {
    const bool soft = Mode == SyncAllMode::Soft;
    vendor_barrier(int(Cores), soft ? (const void*)workspace.data() : nullptr, soft ? used : 0);
}

} // namespace pto

namespace vendor {

template <class Parameter>
Parameter convert(const VendorSlot& slot, const VendorCore& core) {
    if constexpr (std::is_pointer_v<Parameter>) {
        if (slot.kind != VendorSlot::Buffer) vendor_fail("a parameter is a pointer, but its argument is not a buffer");
        return static_cast<Parameter>(slot.pointer);
    } else {
        switch (slot.kind) {
            case VendorSlot::Integer: return static_cast<Parameter>(slot.integer);
            case VendorSlot::Real: return static_cast<Parameter>(slot.real);
            case VendorSlot::BlockIndex: return static_cast<Parameter>(int64_t(core.block));
            case VendorSlot::BlockCount: return static_cast<Parameter>(int64_t(core.blocks));
            case VendorSlot::SubblockIndex: return static_cast<Parameter>(int64_t(core.subblock));
            case VendorSlot::Buffer: break;
        }
        vendor_fail("a parameter is a scalar, but its argument is a buffer");
    }
}

template <class... Parameters, size_t... Index>
void call(void (*kernel)(Parameters...), const VendorSlot* slots, const VendorCore& core, std::index_sequence<Index...>) {
    kernel(convert<Parameters>(slots[Index], core)...);
}

// Calls the kernel with its arguments. The last ones may be left over if they only say which core it is: the cube
// half of a kernel takes no sub-core index.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const VendorSlot* slots, int count, const VendorCore& core, bool a5) {
    constexpr int wanted = sizeof...(Parameters);
    bool fits = count >= wanted;
    for (int i = wanted; i < count; ++i) fits &= slots[i].kind >= VendorSlot::BlockIndex;
    if (!fits) {
        char message[96];
        std::snprintf(message, sizeof message, "the kernel has %d parameters, but %d arguments are given", wanted, count);
        vendor_fail(message);
    }
    pto::NPU_MEMORY_INIT(a5 ? pto::NPUArch::A5 : pto::NPUArch::A2A3);
    call(kernel, slots, core, std::index_sequence_for<Parameters...>{});
}

} // namespace vendor

#endif
