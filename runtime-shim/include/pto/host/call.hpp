// The one C interface between a kernel and the runtime: what an operand looks like, and the function that receives
// every instruction. All structures are plain C: the runtime mirrors them field by field.
#ifndef PTO_HOST_CALL_HPP
#define PTO_HOST_CALL_HPP

namespace pto_host {

// A place in the kernel's source: of a declaration, or of a call.
struct Site {
    const char* file;
    uint32_t line;
    uint32_t reserved;

    static constexpr Site here(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
        return Site{file, line, 0};
    }
};

// Values are part of the interface: append, never renumber.
enum class Kind : uint8_t {
    Null = 0,     // an absent optional operand
    Tile = 1,     // space, element, layouts, shape {rows, cols}, valid, address; `bits` is the pad value
    Conv = 2,     // a convolution tile: layout, rank, shape; `stride[0]` is the buffer size in elements, `stride[1..3]`
                  // and `bits` the settings of im2col loads
    Global = 3,   // layout, shape and stride of 5 dimensions; address is a host pointer
    Integer = 4,  // `bits` holds the value, sign-extended to 64 bits
    Float = 5,    // `bits` holds the value as an IEEE double, `element` says what it was
    Flag = 6,     // an enumerator: `name` is the enumeration, `bits` the value
    Pipe = 7,     // a cube-vector FIFO, see fifo.hpp
    Memory = 8,   // a plain structure or array: address is a host pointer, shape[0] its size in bytes
    Group = 9,    // a parallel group: address of the member operands, shape {ranks, root}
};

struct Operand {
    Kind kind;
    uint8_t space; // pto::TileType of a tile
    Element element;
    uint8_t layout;       // pto::Layout of a global or convolution tile
    uint8_t block_layout; // pto::BLayout
    uint8_t box_layout;   // pto::SLayout
    uint8_t compact;      // pto::CompactMode
    uint8_t rank;
    uint32_t fractal_bytes;
    uint32_t element_bytes;
    uint64_t address; // bytes: within the tile's space, or a host pointer for global memory
    int64_t shape[6];
    int64_t stride[6]; // elements
    int64_t valid[2];  // rows, cols
    uint64_t bits;
    const char* name;
    void* slot; // where the object keeps its address (or handle): the runtime writes here when it places a tile
    Site site;  // declaration of the object
};

struct Call {
    const char* name;
    const Operand* operands;
    uint64_t count;
    void* result; // where the answer goes, or null
    uint64_t result_bytes;
    Site site;
};

static_assert(sizeof(Site) == 16 && sizeof(Operand) == 176 && sizeof(Call) == 56, "the interface has a fixed layout");

} // namespace pto_host

extern "C" void pto_host_call(const pto_host::Call* call);

namespace pto {

// What an instruction returns. The event objects of the device library are not modelled.
struct RecordEvent {};

} // namespace pto

#endif
