// SPDX-License-Identifier: BSL-1.0
// The one place where Tenure owns macros: always defined, tested with #if, each overridable before inclusion.
#pragma once

// The namespace of everything: `tenure`, and inside it, where the compiler may use more than the architecture's base instructions,
// an inline namespace of their name. User code says `tenure::` either way. Units compiled with different -march then share no
// function: linked together they would take the lanes of one and the workspace of the other. They share no type either: a tensor
// handed from one to the other is an undefined reference that names both. Eigen's packets follow the same macros.
#ifndef TENURE_NAMESPACE
#if defined(__AVX512F__)
#define TENURE_NAMESPACE tenure::inline avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define TENURE_NAMESPACE tenure::inline avx2
#elif defined(__AVX__)
#define TENURE_NAMESPACE tenure::inline avx
#elif defined(__SSE4_1__)
#define TENURE_NAMESPACE tenure::inline sse4
#else
#define TENURE_NAMESPACE tenure
#endif
#endif

// Kernels are only as fast as their inlining: a packet that crosses a call goes through memory.
#ifndef TENURE_INLINE
#if defined(__GNUC__)
#define TENURE_INLINE inline __attribute__((always_inline))
#else
#define TENURE_INLINE inline
#endif
#endif

// The layers of a loop nest, and the function that they are inlined into all at once. g++ optimises an always_inline function
// again at each layer that it reaches (a quarter of a second a kernel of ten layers); clang does not, and flattens one layer only.
#ifndef TENURE_LAYER
#if defined(__GNUC__) && !defined(__clang__)
#define TENURE_LAYER inline
#define TENURE_FLATTEN __attribute__((flatten))
#else
#define TENURE_LAYER TENURE_INLINE
#define TENURE_FLATTEN
#endif
#endif

// What kernels call, on a GPU too: nvcc compiles it a second time, for the device.
#ifndef TENURE_KERNEL
#if defined(__CUDACC__)
#define TENURE_KERNEL __host__ __device__
#else
#define TENURE_KERNEL
#endif
#endif
#ifndef TENURE_KERNEL_INLINE
#define TENURE_KERNEL_INLINE TENURE_KERNEL TENURE_INLINE
#endif
// A whole operation, which is a layer of a loop nest on the CPU.
#ifndef TENURE_KERNEL_LAYER
#if defined(__CUDACC__)
#define TENURE_KERNEL_LAYER TENURE_KERNEL_INLINE
#else
#define TENURE_KERNEL_LAYER TENURE_LAYER
#endif
#endif

// Exports of a temporary's memory are diagnosed by clang where it has the attribute.
#ifndef TENURE_LIFETIMEBOUND
#if defined(__clang__)
#define TENURE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define TENURE_LIFETIMEBOUND
#endif
#endif

// Freed memory is kept for the next tensor, except under AddressSanitizer, which could then not see a use after free.
#ifndef TENURE_POOL
#if defined(__SANITIZE_ADDRESS__)
#define TENURE_POOL 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENURE_POOL 0
#else
#define TENURE_POOL 1
#endif
#else
#define TENURE_POOL 1
#endif
#endif

// Writes raise the version of a storage, and backward() compares it. Only for measuring what that costs: without it an overwritten
// value gives a silently wrong gradient. All units of a program must agree.
#ifndef TENURE_VERSION_COUNTERS
#define TENURE_VERSION_COUNTERS 1
#endif

// Large products by the BLAS that the program is linked to, in place of Tenure's own. All units of a program must agree.
#ifndef TENURE_BLAS
#define TENURE_BLAS 0
#endif
