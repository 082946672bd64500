// What the runner and the halves of a kernel agree on. A half is a shared object that exports `vendor_entry`.
#ifndef VENDOR_ABI_HPP
#define VENDOR_ABI_HPP

#include <cstdint>

// One argument of the kernel. Integers and reals are converted to the type of the parameter.
struct VendorSlot {
    enum Kind { Buffer, Integer, Real, BlockIndex, BlockCount, SubblockIndex } kind;
    void* pointer;
    int64_t integer;
    double real;
};

// The core that runs a half.
struct VendorCore {
    uint32_t block, blocks, subblock, subblocks;
    bool cube;
};

using VendorEntry = void (*)(const VendorSlot* slots, int count, const VendorCore* core, bool a5);

// Exported by the runner: synchronisation between cores, which the simulator leaves out.
extern "C" {
void vendor_send_message(uint64_t message);          // A3: count, mode and flag id
void vendor_wait_flag(uint64_t id);                  // A3
void vendor_set_intra_block(uint64_t id);            // A5
void vendor_wait_intra_block(uint64_t id);           // A5
void vendor_barrier(int cores, const void* workspace, int32_t used); // cores: 0 vector, 1 cube, 2 all
uint32_t vendor_subblockdim();                       // of this core
[[noreturn]] void vendor_fail(const char* message);  // a fault of the caller or of the kernel
}

#endif
