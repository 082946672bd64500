// A checking host stand-in for the PTO instruction library.
//
// A kernel written for the device compiles unchanged against this header with clang, as C++17 or C++20. Wrong
// operand counts, operand order, tile locations, layouts and addresses fail to compile; nothing is computed here.
// Every instruction describes its operands and hands them to one C function, `pto_host_call` (host/call.hpp),
// which the runtime supplies: a kernel compiles to bitcode without it and links only with it.
//
// Not covered: event objects (`Event<...>` as a return value or trailing argument), grid pipes, CCU collectives.
//
// The architecture is chosen with -DPTO_NPU_ARCH_A2A3, _A5, _KIRIN9030 or _KIRINX90 (or __NPU_ARCH__), the half of
// the core with -D__DAV_VEC__ and/or -D__DAV_CUBE__.
#ifndef PTO_INST_HPP
#define PTO_INST_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/host/qualifiers.hpp"

#include "pto/host/limits.hpp"

#include "pto/host/element.hpp"
#include "pto/host/enums.hpp"
#include "pto/host/call.hpp"

#include "pto/host/global.hpp"
#include "pto/host/shape2d.hpp"
#include "pto/host/tile.hpp"
#include "pto/host/conv_tile.hpp"

#include "pto/host/operand.hpp"
#include "pto/host/check.hpp"
#include "pto/host/assign.hpp"
#include "pto/host/intrinsics.hpp"
#include "pto/host/sync.hpp"

#include "pto/host/ops_elementwise.hpp"
#include "pto/host/ops_reduce.hpp"
#include "pto/host/ops_irregular.hpp"
#include "pto/host/ops_memory.hpp"
#include "pto/host/ops_move.hpp"
#include "pto/host/ops_matrix.hpp"
#include "pto/host/fifo.hpp"
#include "pto/host/comm.hpp"

#endif
