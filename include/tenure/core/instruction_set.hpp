// SPDX-License-Identifier: BSL-1.0
// TENURE_ISA: a name for the set of instructions that the compiler may use without being asked. It is not defined for the base of the
// architecture. Law: two sets of flags have the same name only if the compiler may use the same instructions and vector widths with both.
// It reads the compiler's macros only, and not Eigen's, so the name does not depend on the order of includes.
#pragma once

// TENURE_ISA_IF(__FMA__, _fma) is _fma where __FMA__ is 1, and nothing where it is not defined.
#define TENURE_ISA_HAS_1 ~,
#define TENURE_ISA_SECOND(first, second, ...) second
#define TENURE_ISA_PICK(...) TENURE_ISA_SECOND(__VA_ARGS__)
#define TENURE_ISA_IF_VALUE(value, name) TENURE_ISA_PICK(TENURE_ISA_HAS_##value name, , )
#define TENURE_ISA_IF(macro, name) TENURE_ISA_IF_VALUE(macro, name)
#define TENURE_ISA_JOIN(a, b, c, d, e, f, g, h) TENURE_ISA_PASTE(a, b, c, d, e, f, g, h)
#define TENURE_ISA_PASTE(a, b, c, d, e, f, g, h) a##b##c##d##e##f##g##h

#if defined(__x86_64__) || defined(__i386__)
// The instructions that each level adds to the levels of the x86-64 psABI (v2 is sse4, v3 is avx2, v4 is avx512), and the
// instructions above all levels. The latter and the newest level have short names, because each line of a message of g++ holds the name several times.
#define TENURE_ISA_ABOVE_ALL                                                                                                             \
  TENURE_ISA_JOIN(TENURE_ISA_IF(__AVX512BF16__, _b), TENURE_ISA_IF(__AVX512FP16__, _h), TENURE_ISA_IF(__AVX512ER__, _e),                 \
                  TENURE_ISA_IF(__AVXVNNI__, _v), TENURE_ISA_IF(__SSE4A__, _a), TENURE_ISA_IF(__FMA4__, _4),                             \
                  TENURE_ISA_IF(__XOP__, _x), TENURE_ISA_IF(__TBM__, _t))
#define TENURE_ISA_ABOVE_AVX512                                                                                                          \
  TENURE_ISA_JOIN(TENURE_ISA_IF(__AVX512IFMA__, _ifma), TENURE_ISA_IF(__AVX512VBMI__, _vbmi), TENURE_ISA_IF(__AVX512VBMI2__, _vbmi2),    \
                  TENURE_ISA_IF(__AVX512VNNI__, _vnni), TENURE_ISA_IF(__AVX512BITALG__, _bitalg),                                        \
                  TENURE_ISA_IF(__AVX512VPOPCNTDQ__, _vpopcntdq), TENURE_ISA_IF(__GFNI__, _gfni), TENURE_ISA_ABOVE_ALL)
#define TENURE_ISA_ABOVE_AVX2                                                                                                            \
  TENURE_ISA_JOIN(TENURE_ISA_IF(__AVX512F__, _avx512f), TENURE_ISA_IF(__AVX512CD__, _cd), TENURE_ISA_IF(__AVX512BW__, _bw),              \
                  TENURE_ISA_IF(__AVX512DQ__, _dq), TENURE_ISA_IF(__AVX512VL__, _vl), TENURE_ISA_ABOVE_AVX512, , )
#define TENURE_ISA_ABOVE_SSE4                                                                                                            \
  TENURE_ISA_JOIN(TENURE_ISA_IF(__AVX2__, _avx2), TENURE_ISA_IF(__FMA__, _fma), TENURE_ISA_IF(__F16C__, _f16c), TENURE_ISA_IF(__BMI__, _bmi), \
                  TENURE_ISA_IF(__BMI2__, _bmi2), TENURE_ISA_IF(__LZCNT__, _lzcnt), TENURE_ISA_IF(__MOVBE__, _movbe), TENURE_ISA_ABOVE_AVX2)
#define TENURE_ISA_ABOVE_SSE2                                                                                                            \
  TENURE_ISA_JOIN(TENURE_ISA_IF(__SSE3__, _sse3), TENURE_ISA_IF(__SSSE3__, _ssse3), TENURE_ISA_IF(__SSE4_1__, _sse4_1),                  \
                  TENURE_ISA_IF(__SSE4_2__, _sse4_2), TENURE_ISA_IF(__POPCNT__, _popcnt), TENURE_ISA_IF(__AVX__, _avx), TENURE_ISA_ABOVE_SSE4, )

#if defined(__SSE3__) && defined(__SSSE3__) && defined(__SSE4_1__) && defined(__SSE4_2__) && defined(__POPCNT__)
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__BMI__) && defined(__BMI2__) && defined(__LZCNT__) && defined(__MOVBE__)
#if defined(__AVX512F__) && defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#if defined(__AVX512IFMA__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) && defined(__AVX512VNNI__) && defined(__AVX512BITALG__) && \
    defined(__AVX512VPOPCNTDQ__) && defined(__GFNI__)
#define TENURE_ISA TENURE_ISA_JOIN(icelake, TENURE_ISA_ABOVE_ALL, , , , , , )
#else
#define TENURE_ISA TENURE_ISA_JOIN(avx512, TENURE_ISA_ABOVE_AVX512, , , , , , )
#endif
#else
#define TENURE_ISA TENURE_ISA_JOIN(avx2, TENURE_ISA_ABOVE_AVX2, , , , , , )
#endif
#elif defined(__AVX__)
#define TENURE_ISA TENURE_ISA_JOIN(avx, TENURE_ISA_ABOVE_SSE4, , , , , , )
#else
#define TENURE_ISA TENURE_ISA_JOIN(sse4, TENURE_ISA_ABOVE_SSE4, , , , , , )
#endif
#elif defined(__SSE3__) || defined(__POPCNT__) || defined(__BMI__) || defined(__BMI2__) || defined(__LZCNT__) || defined(__MOVBE__) || defined(__TBM__)
#define TENURE_ISA TENURE_ISA_JOIN(x86, TENURE_ISA_ABOVE_SSE2, , , , , , )
#elif defined(__i386__) && defined(__SSE2__)
#define TENURE_ISA sse2
#endif

#elif defined(__aarch64__)
// The instructions that Armv8-A may lack. The vector length of SVE is part of the name if Eigen uses SVE.
#if defined(__ARM_FEATURE_SVE) && defined(EIGEN_ARM64_USE_SVE)
#define TENURE_ISA_SVE TENURE_ISA_JOIN(_sve, __ARM_FEATURE_SVE_BITS, , , , , , )
#else
#define TENURE_ISA_SVE TENURE_ISA_IF(__ARM_FEATURE_SVE, _sve)
#endif
#if defined(__ARM_FEATURE_ATOMICS) || defined(__ARM_FEATURE_SVE) || defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) || \
    defined(__ARM_FEATURE_BF16) || defined(__ARM_FEATURE_MATMUL_INT8)
#define TENURE_ISA                                                                                                                       \
  TENURE_ISA_JOIN(arm, TENURE_ISA_IF(__ARM_FEATURE_ATOMICS, _atomics), TENURE_ISA_IF(__ARM_FEATURE_DOTPROD, _dotprod),                   \
                  TENURE_ISA_IF(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC, _fp16), TENURE_ISA_IF(__ARM_FEATURE_BF16, _bf16),                  \
                  TENURE_ISA_IF(__ARM_FEATURE_MATMUL_INT8, _i8mm), TENURE_ISA_SVE, TENURE_ISA_IF(__ARM_FEATURE_SVE2, _sve2))
#endif

#elif defined(__ARM_NEON)
#define TENURE_ISA TENURE_ISA_JOIN(neon, TENURE_ISA_IF(__ARM_FEATURE_FMA, _fma), , , , , , )
#elif defined(__VSX__) || defined(__ALTIVEC__)
#define TENURE_ISA                                                                                                                       \
  TENURE_ISA_JOIN(altivec, TENURE_ISA_IF(__VSX__, _vsx), TENURE_ISA_IF(__POWER8_VECTOR__, _8), TENURE_ISA_IF(__POWER9_VECTOR__, _9),     \
                  TENURE_ISA_IF(__MMA__, _mma), , , )
#elif defined(__VEC__) || defined(__mips_msa)
#define TENURE_ISA vectors
#endif
