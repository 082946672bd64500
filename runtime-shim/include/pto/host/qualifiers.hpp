// Qualifiers of the device language. On the host there is one address space, so all but `__global__` vanish.
#ifndef PTO_HOST_QUALIFIERS_HPP
#define PTO_HOST_QUALIFIERS_HPP

#define AICORE
#define __aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __in__
#define __out__
#define __cce_get_tile_ptr(pointer) (pointer)

// The section name marks an entry point, so that a reader of the bitcode can tell it from a helper.
#define __global__ __attribute__((used, section("pto_entry")))

#define PTO_INLINE inline __attribute__((always_inline))
#define PTO_INST PTO_INLINE
#define PTO_INTERNAL PTO_INLINE

#endif
