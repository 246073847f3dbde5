// SPDX-License-Identifier: BSL-1.0
// All configuration macros of Tenure. Each is always defined after this header and is tested with #if. A user can define each one
// before the include to override it.
#pragma once

// -ffast-math makes exp, log, sin and pow wrong by up to 100 %, because the compiler may drop the roundings that they depend on, and
// may drop each comparison with NaN. A barrier cannot bring NaN back, so the header refuses the flag. 1: accept the flag and wrong
// results. clang defines no macro for -fassociative-math and -funsafe-math-optimizations alone, so these flags are not noticed there.
#ifndef TENURE_ALLOW_FAST_MATH
#define TENURE_ALLOW_FAST_MATH 0
#endif
#if !TENURE_ALLOW_FAST_MATH && (defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0))
#error "tenure: include: -ffast-math and -Ofast break exp, log, sin, pow and NaN: compile with -O3, or with -DTENURE_ALLOW_FAST_MATH=1 to take wrong results"
#endif

// 1: packets have one lane. That is so with nvcc, on processors without vectors, and where Eigen's macros forbid them. Where the packets are Eigen's, its
// first include decides this, so its own macro is tested first.
#ifndef TENURE_ONE_LANE
#if defined(__CUDACC__)
#define TENURE_ONE_LANE 1
#elif defined(__SSE2__) && defined(__GNUC__)
#if defined(EIGEN_DONT_VECTORIZE)
#define TENURE_ONE_LANE 1
#else
#define TENURE_ONE_LANE 0
#endif
#elif !defined(__ARM_NEON) && !defined(__ARM_NEON__) && !defined(__ARM_FEATURE_SVE) && !defined(__VSX__) && !defined(__ALTIVEC__) && !defined(__VEC__) && !defined(__mips_msa)
#define TENURE_ONE_LANE 1
#elif defined(EIGEN_CONFIGURE_VECTORIZATION_H) && defined(EIGEN_VECTORIZE)
#define TENURE_ONE_LANE 0
#elif defined(EIGEN_DONT_VECTORIZE) || defined(EIGEN_DONT_ALIGN)
#define TENURE_ONE_LANE 1
#elif defined(EIGEN_MAX_ALIGN_BYTES)
#if EIGEN_MAX_ALIGN_BYTES == 0
#define TENURE_ONE_LANE 1
#else
#define TENURE_ONE_LANE 0
#endif
#else
#define TENURE_ONE_LANE 0
#endif
#endif

// The vector instructions of x86 that packets use. TENURE_SSE: packets are registers of x86 (math/packet/registers.hpp). Elsewhere they are Eigen's.
#if !TENURE_ONE_LANE && defined(__SSE2__) && defined(__GNUC__)
#define TENURE_SSE 1
#else
#define TENURE_SSE 0
#endif
#if TENURE_SSE && defined(__AVX__)
#define TENURE_AVX 1
#else
#define TENURE_AVX 0
#endif
#if TENURE_SSE && defined(__AVX2__)
#define TENURE_AVX2 1
#else
#define TENURE_AVX2 0
#endif
#if TENURE_SSE && defined(__AVX512F__)
#define TENURE_AVX512 1
#else
#define TENURE_AVX512 0
#endif

// 1: each call on the CPU tests whether a debug_nans_scope of its thread watches it. 0: no call tests this, and a scope does not compile. All units
// of a program must use the same setting. The setting is part of the namespace below, so units with another setting share no function, and the linker
// reports a tensor that goes from one to the other.
#ifndef TENURE_DEBUG_NANS
#define TENURE_DEBUG_NANS 0
#endif

// 1: each node of a graph keeps the operation of the traced function from which it comes, so that profile() can show source lines. 0: graphs are
// smaller and compile faster. The setting is part of the namespace below, as TENURE_DEBUG_NANS is.
#ifndef TENURE_PROFILE_LINES
#define TENURE_PROFILE_LINES 0
#endif

// 1: the CPU computes eigh, svd, qr, lu, cholesky, solve and inverse of large matrices by Eigen's decompositions, whose headers are then included
// (backend/cpu/large_samples.hpp). 0: each matrix takes Tenure's own kernels, and nothing is included. The setting is part of the namespace below too.
#ifndef TENURE_EIGEN_DECOMPOSITIONS
#define TENURE_EIGEN_DECOMPOSITIONS 0
#endif

// 1: on a GPU cuSOLVER computes cholesky, solve, inverse, qr, eigh and svd of large matrices (backend/cuda/decompositions.hpp), and the program is linked with it:
// -lcusolver. 0: one thread computes each matrix. The setting is part of the namespace below too.
#ifndef TENURE_CUSOLVER
#define TENURE_CUSOLVER 0
#endif

// 1: the freestanding profile of <tenure/freestanding.hpp>: no exceptions, no heap, no threads. It is so where the compiler has no exceptions
// (-fno-exceptions). A program with exceptions that defines it gets the same refusals. The setting is part of the namespace below too.
#ifndef TENURE_FREESTANDING
#if defined(__GNUC__) && !defined(__cpp_exceptions)
#define TENURE_FREESTANDING 1
#else
#define TENURE_FREESTANDING 0
#endif
#endif

// The namespace of the library is `tenure`. An inline namespace inside it names the version, so that two libraries which were compiled with different versions of Tenure
// stand in one program: they share no function and no type. If the compiler may use more than the base instructions of the architecture, another inline
// namespace inside that one names the instruction set. User code says `tenure::` in all cases. The reason: two units compiled with
// different -march must not share a function, because the linker keeps one definition, and that one could use the vector width of
// one unit with the workspace size of the other, or instructions that the processor lacks. The units share no type either: if one
// passes a tensor to the other, the linker reports an undefined reference, and its name shows both instruction sets.
// docs/7-how-it-works.md shows how a program chooses between such units when it runs.
#ifndef TENURE_NAMESPACE
#include <tenure/version.hpp>
#include <tenure/core/instruction_set.hpp>
#define TENURE_OF_VERSION_PASTE(number) tenure::inline v##number
#define TENURE_OF_VERSION(number) TENURE_OF_VERSION_PASTE(number)
#if TENURE_DEBUG_NANS
#define TENURE_WITH_NANS ::inline looks_for_nans
#else
#define TENURE_WITH_NANS
#endif
#if TENURE_PROFILE_LINES
#define TENURE_WITH_LINES ::inline keeps_lines
#else
#define TENURE_WITH_LINES
#endif
#if TENURE_EIGEN_DECOMPOSITIONS
#define TENURE_WITH_EIGEN ::inline decomposes_by_eigen
#else
#define TENURE_WITH_EIGEN
#endif
#if TENURE_CUSOLVER
#define TENURE_WITH_CUSOLVER ::inline decomposes_by_cusolver
#else
#define TENURE_WITH_CUSOLVER
#endif
#if TENURE_FREESTANDING
#define TENURE_WITHOUT_HEAP ::inline freestanding
#else
#define TENURE_WITHOUT_HEAP
#endif
#define TENURE_SETTINGS TENURE_WITHOUT_HEAP TENURE_WITH_NANS TENURE_WITH_LINES TENURE_WITH_EIGEN TENURE_WITH_CUSOLVER
#if defined(TENURE_ISA)
#define TENURE_NAMESPACE TENURE_OF_VERSION(TENURE_VERSION)::inline TENURE_ISA TENURE_SETTINGS
#else
#define TENURE_NAMESPACE TENURE_OF_VERSION(TENURE_VERSION) TENURE_SETTINGS
#endif
#endif

// A namespace whose functions depend on the number of lanes. A .cu file and a .cpp file with the same -march share types and the
// functions on them, but nvcc has packets of one lane, so these namespaces have another name there.
#ifndef TENURE_LANES
#if TENURE_ONE_LANE
#define TENURE_LANES(name) name::inline one_lane
#else
#define TENURE_LANES(name) name
#endif
#endif

// Forces inlining. Kernels need it: a packet that is passed to a function that is not inlined goes through memory.
#ifndef TENURE_INLINE
#if defined(__GNUC__)
#define TENURE_INLINE inline __attribute__((always_inline))
#else
#define TENURE_INLINE inline
#endif
#endif

// TENURE_LAYER marks the layers of a loop nest. TENURE_FLATTEN marks the outer function, into which g++ inlines all layers at once.
// Reason: g++ optimises an always_inline function again at each layer, which takes a quarter of a second for a kernel of ten
// layers. clang does not do that, and its flatten attribute inlines one layer only, so there each layer is always_inline.
#ifndef TENURE_LAYER
#if defined(__GNUC__) && !defined(__clang__)
#define TENURE_LAYER inline
#define TENURE_FLATTEN __attribute__((flatten))
#else
#define TENURE_LAYER TENURE_INLINE
#define TENURE_FLATTEN
#endif
#endif

// Marks a function that kernels call, on the CPU and on a GPU. nvcc compiles it twice: for the host and for the device.
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
// Marks a function that computes a whole operation inside a kernel. On the CPU it is a layer of a loop nest.
#ifndef TENURE_KERNEL_LAYER
#if defined(__CUDACC__)
#define TENURE_KERNEL_LAYER TENURE_KERNEL_INLINE
#else
#define TENURE_KERNEL_LAYER TENURE_LAYER
#endif
#endif

// Between these two, compilers do not warn where the loops of kernels are right: g++ of a state that is passed on before all its slots are written
// (each is written before it is read), of the address of a row behind a short block, which is not stored, and of Eigen's 512-bit shuffles
// (gcc.gnu.org/PR105593), and nvcc of GCC's pragma for unrolling.
#ifndef TENURE_WARNINGS_OFF
#if !defined(__GNUC__) || defined(__clang__)
#define TENURE_WARNINGS_OFF
#define TENURE_WARNINGS_ON
#elif defined(__CUDACC__)
#define TENURE_WARNINGS_OFF \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675") _Pragma("GCC diagnostic push") \
  _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
#define TENURE_WARNINGS_ON _Pragma("GCC diagnostic pop") _Pragma("nv_diagnostic pop")
#else
#define TENURE_WARNINGS_OFF \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"") \
  _Pragma("GCC diagnostic ignored \"-Warray-bounds\"")
#define TENURE_WARNINGS_ON _Pragma("GCC diagnostic pop")
#endif
#endif

// With this attribute clang warns if a pointer or span to the memory of a temporary tensor outlives the tensor.
#ifndef TENURE_LIFETIMEBOUND
#if defined(__clang__)
#define TENURE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define TENURE_LIFETIMEBOUND
#endif
#endif

// 1: the pool keeps freed memory for the next tensor. 0: it returns memory to the system at once. The default is 0 under
// AddressSanitizer, because it cannot see a use after free in memory that the pool keeps.
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

// 1: each write raises the version of its storage, and backward() compares versions. 0 exists only to measure the cost of this:
// without versions an overwritten value gives a wrong gradient without an error. All units of a program must use the same setting.
#ifndef TENURE_VERSION_COUNTERS
#define TENURE_VERSION_COUNTERS 1
#endif

// 1: large matrix products call the BLAS library that the program links, in place of Tenure's own product. All units of a program
// must use the same setting.
#ifndef TENURE_BLAS
#define TENURE_BLAS 0
#endif
