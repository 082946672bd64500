// Capacity and alignment of every on-chip buffer, in bytes. Each macro can be set on the command line (-D wins).
// Source of the numbers: PTO-ISA buffer_limits.
#ifndef PTO_HOST_LIMITS_HPP
#define PTO_HOST_LIMITS_HPP

#if !defined(PTO_NPU_ARCH_A2A3) && !defined(PTO_NPU_ARCH_A5) && !defined(PTO_NPU_ARCH_A6) && \
    !defined(PTO_NPU_ARCH_KIRIN9030) && !defined(PTO_NPU_ARCH_KIRINX90) && !defined(PTO_NPU_ARCH_KIRINDEV0000) && \
    defined(__NPU_ARCH__)
#if __NPU_ARCH__ == 2201
#define PTO_NPU_ARCH_A2A3
#elif __NPU_ARCH__ == 3101 || __NPU_ARCH__ == 3510
#define PTO_NPU_ARCH_A5
#elif __NPU_ARCH__ == 9201
#define PTO_NPU_ARCH_A6
#elif __NPU_ARCH__ == 3113
#define PTO_NPU_ARCH_KIRIN9030
#elif __NPU_ARCH__ == 3003
#define PTO_NPU_ARCH_KIRINX90
#elif __NPU_ARCH__ == 5101
#define PTO_NPU_ARCH_KIRINDEV0000
#endif
#endif

// One row per architecture: UB, L1, L0A, L0B, L0C, bias table, fixpipe buffer, left scale, right scale.
#if defined(PTO_NPU_ARCH_A2A3)
#define PTO_HOST_LIMITS(pick) pick(196608, 524288, 65536, 65536, 131072, 1024, 2048, 0, 0)
#elif defined(PTO_NPU_ARCH_A5) || defined(PTO_NPU_ARCH_A6)
#define PTO_HOST_LIMITS(pick) pick(262144, 524288, 65536, 65536, 262144, 4096, 4096, 4096, 4096)
#elif defined(PTO_NPU_ARCH_KIRIN9030)
#define PTO_HOST_LIMITS(pick) pick(131072, 524288, 32768, 32768, 65536, 1024, 7168, 0, 0)
#elif defined(PTO_NPU_ARCH_KIRINX90)
#define PTO_HOST_LIMITS(pick) pick(131072, 1048576, 65536, 65536, 131072, 1024, 6144, 0, 0)
#elif defined(PTO_NPU_ARCH_KIRINDEV0000)
#define PTO_HOST_LIMITS(pick) pick(131072, 1572864, 0, 131072, 0, 1024, 0, 0, 0)
#elif !defined(PTO_UBUF_SIZE_BYTES) || !defined(PTO_CBUF_SIZE_BYTES) || !defined(PTO_L0A_SIZE_BYTES) || \
    !defined(PTO_L0B_SIZE_BYTES) || !defined(PTO_L0C_SIZE_BYTES) || !defined(PTO_BIAS_SIZE_BYTES) || \
    !defined(PTO_FBUF_SIZE_BYTES) || !defined(PTO_SCALELEFT_SIZE_BYTES) || !defined(PTO_SCALERIGHT_SIZE_BYTES)
#error "no NPU architecture: define PTO_NPU_ARCH_A2A3, _A5, _KIRIN9030 or _KIRINX90, or all nine PTO_*_SIZE_BYTES"
#endif

#ifdef PTO_HOST_LIMITS
#define PTO_HOST_PICK_UBUF(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) ub
#define PTO_HOST_PICK_CBUF(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) l1
#define PTO_HOST_PICK_L0A(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) l0a
#define PTO_HOST_PICK_L0B(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) l0b
#define PTO_HOST_PICK_L0C(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) l0c
#define PTO_HOST_PICK_BIAS(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) bias
#define PTO_HOST_PICK_FBUF(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) fbuf
#define PTO_HOST_PICK_SCALELEFT(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) left
#define PTO_HOST_PICK_SCALERIGHT(ub, l1, l0a, l0b, l0c, bias, fbuf, left, right) right
#endif

#ifndef PTO_UBUF_SIZE_BYTES
#define PTO_UBUF_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_UBUF)
#endif
#ifndef PTO_CBUF_SIZE_BYTES
#define PTO_CBUF_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_CBUF)
#endif
#ifndef PTO_L0A_SIZE_BYTES
#define PTO_L0A_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_L0A)
#endif
#ifndef PTO_L0B_SIZE_BYTES
#define PTO_L0B_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_L0B)
#endif
#ifndef PTO_L0C_SIZE_BYTES
#define PTO_L0C_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_L0C)
#endif
#ifndef PTO_BIAS_SIZE_BYTES
#define PTO_BIAS_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_BIAS)
#endif
#ifndef PTO_FBUF_SIZE_BYTES
#define PTO_FBUF_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_FBUF)
#endif
#ifndef PTO_SCALELEFT_SIZE_BYTES
#define PTO_SCALELEFT_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_SCALELEFT)
#endif
#ifndef PTO_SCALERIGHT_SIZE_BYTES
#define PTO_SCALERIGHT_SIZE_BYTES PTO_HOST_LIMITS(PTO_HOST_PICK_SCALERIGHT)
#endif

#ifndef PTO_UBUF_ALIGN_BYTES
#define PTO_UBUF_ALIGN_BYTES 32
#endif
#ifndef PTO_CBUF_ALIGN_BYTES
#define PTO_CBUF_ALIGN_BYTES 32
#endif
#ifndef PTO_L0A_ALIGN_BYTES
#define PTO_L0A_ALIGN_BYTES 32
#endif
#ifndef PTO_L0B_ALIGN_BYTES
#define PTO_L0B_ALIGN_BYTES 32
#endif
#ifndef PTO_L0C_ALIGN_BYTES
#define PTO_L0C_ALIGN_BYTES 32
#endif
#ifndef PTO_BIAS_ALIGN_BYTES
#define PTO_BIAS_ALIGN_BYTES 32
#endif
#ifndef PTO_FBUF_ALIGN_BYTES
#define PTO_FBUF_ALIGN_BYTES 32
#endif

#endif
