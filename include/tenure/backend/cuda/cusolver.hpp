// SPDX-License-Identifier: BSL-1.0
// Declarations of the functions of cuSOLVER and cuBLAS that solver.cuh calls, under other names, as in cublas.hpp. tests/cuda/cublas compares them with the
// original ones. Matrices are column-major.
#pragma once

#include <tenure/backend/cuda/cublas.hpp>

struct cusolverDnContext;

namespace TENURE_NAMESPACE::cuda_backend::cusolver {

using handle = cusolverDnContext*;
enum class status : int { success = 0 };
enum class triangle : int { lower = 0, upper = 1 };
enum class vectors : int { none = 0, all = 1 };
enum class side : int { left = 0, right = 1 };
enum class diagonal : int { stored = 0, ones = 1 };
using operation = cublas::operation;

status create(handle*) __asm__("cusolverDnCreate");
status destroy(handle) __asm__("cusolverDnDestroy");
status set_stream(handle, cudaStream_t) __asm__("cusolverDnSetStream");

/// LAPACK's functions, the size of the memory of each, in numbers, and BLAS' trsm.
template <class T>
struct lapack;

template <>
struct lapack<float> {
  static status potrf_size(handle, triangle, int n, float* a, int lda, int* size) __asm__("cusolverDnSpotrf_bufferSize");
  static status potrf(handle, triangle, int n, float* a, int lda, float* memory, int size, int* info) __asm__("cusolverDnSpotrf");
  static status getrf_size(handle, int m, int n, float* a, int lda, int* size) __asm__("cusolverDnSgetrf_bufferSize");
  static status getrf(handle, int m, int n, float* a, int lda, float* memory, int* pivots, int* info) __asm__("cusolverDnSgetrf");
  static status getrs(handle, operation, int n, int columns, const float* a, int lda, const int* pivots, float* b, int ldb, int* info) __asm__("cusolverDnSgetrs");
  static status geqrf_size(handle, int m, int n, float* a, int lda, int* size) __asm__("cusolverDnSgeqrf_bufferSize");
  static status geqrf(handle, int m, int n, float* a, int lda, float* scales, float* memory, int size, int* info) __asm__("cusolverDnSgeqrf");
  static status orgqr_size(handle, int m, int n, int k, const float* a, int lda, const float* scales, int* size) __asm__("cusolverDnSorgqr_bufferSize");
  static status orgqr(handle, int m, int n, int k, float* a, int lda, const float* scales, float* memory, int size, int* info) __asm__("cusolverDnSorgqr");
  static status syevd_size(handle, vectors, triangle, int n, const float* a, int lda, const float* w, int* size) __asm__("cusolverDnSsyevd_bufferSize");
  static status syevd(handle, vectors, triangle, int n, float* a, int lda, float* w, float* memory, int size, int* info) __asm__("cusolverDnSsyevd");
  static status gesvd_size(handle, int m, int n, int* size) __asm__("cusolverDnSgesvd_bufferSize");
  static status gesvd(handle, signed char which_u, signed char which_vt, int m, int n, float* a, int lda, float* s, float* u, int ldu, float* vt, int ldvt, float* memory, int size, float* unused, int* info)
      __asm__("cusolverDnSgesvd");
  static cublas::status trsm(cublas::handle, side, triangle, operation, diagonal, std::int64_t m, std::int64_t n, const float* factor, const float* a, std::int64_t lda, float* b, std::int64_t ldb)
      __asm__("cublasStrsm_v2_64");
};

template <>
struct lapack<double> {
  static status potrf_size(handle, triangle, int n, double* a, int lda, int* size) __asm__("cusolverDnDpotrf_bufferSize");
  static status potrf(handle, triangle, int n, double* a, int lda, double* memory, int size, int* info) __asm__("cusolverDnDpotrf");
  static status getrf_size(handle, int m, int n, double* a, int lda, int* size) __asm__("cusolverDnDgetrf_bufferSize");
  static status getrf(handle, int m, int n, double* a, int lda, double* memory, int* pivots, int* info) __asm__("cusolverDnDgetrf");
  static status getrs(handle, operation, int n, int columns, const double* a, int lda, const int* pivots, double* b, int ldb, int* info) __asm__("cusolverDnDgetrs");
  static status geqrf_size(handle, int m, int n, double* a, int lda, int* size) __asm__("cusolverDnDgeqrf_bufferSize");
  static status geqrf(handle, int m, int n, double* a, int lda, double* scales, double* memory, int size, int* info) __asm__("cusolverDnDgeqrf");
  static status orgqr_size(handle, int m, int n, int k, const double* a, int lda, const double* scales, int* size) __asm__("cusolverDnDorgqr_bufferSize");
  static status orgqr(handle, int m, int n, int k, double* a, int lda, const double* scales, double* memory, int size, int* info) __asm__("cusolverDnDorgqr");
  static status syevd_size(handle, vectors, triangle, int n, const double* a, int lda, const double* w, int* size) __asm__("cusolverDnDsyevd_bufferSize");
  static status syevd(handle, vectors, triangle, int n, double* a, int lda, double* w, double* memory, int size, int* info) __asm__("cusolverDnDsyevd");
  static status gesvd_size(handle, int m, int n, int* size) __asm__("cusolverDnDgesvd_bufferSize");
  static status gesvd(handle, signed char which_u, signed char which_vt, int m, int n, double* a, int lda, double* s, double* u, int ldu, double* vt, int ldvt, double* memory, int size, double* unused, int* info)
      __asm__("cusolverDnDgesvd");
  static cublas::status trsm(cublas::handle, side, triangle, operation, diagonal, std::int64_t m, std::int64_t n, const double* factor, const double* a, std::int64_t lda, double* b, std::int64_t ldb)
      __asm__("cublasDtrsm_v2_64");
};

}  // namespace tenure::cuda_backend::cusolver
