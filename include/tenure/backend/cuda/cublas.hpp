// SPDX-License-Identifier: BSL-1.0
// Declarations of the eight cuBLAS functions that gpu.cuh calls, under other names, so that a program can include
// <cublas_v2.h> as well. This header does not include <cublas_v2.h>, because that header includes both half-precision types:
// they took a tenth of nvcc's time for <tenure/cuda.hpp>. tests/cuda/cublas compares the declarations with the original ones.
#pragma once

#include <tenure/core/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

struct cublasContext;

namespace TENURE_NAMESPACE::cuda_backend::cublas {

using handle = cublasContext*;
enum class status : int { success = 0 };
enum class operation : int { none = 0, transpose = 1 };
enum class math_mode : int { pedantic = 2 };

status create(handle*) __asm__("cublasCreate_v2");
status destroy(handle) __asm__("cublasDestroy_v2");
status set_stream(handle, cudaStream_t) __asm__("cublasSetStream_v2");
status set_workspace(handle, void*, std::size_t) __asm__("cublasSetWorkspace_v2");
status set_math_mode(handle, math_mode) __asm__("cublasSetMathMode");
const char* status_string(status) __asm__("cublasGetStatusString");

status gemm(handle, operation, operation, std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
            long long stride_a, const float* b, std::int64_t ldb, long long stride_b, const float* beta, float* c, std::int64_t ldc, long long stride_c,
            std::int64_t count) __asm__("cublasSgemmStridedBatched_64");
status gemm(handle, operation, operation, std::int64_t m, std::int64_t n, std::int64_t k, const double* alpha, const double* a, std::int64_t lda,
            long long stride_a, const double* b, std::int64_t ldb, long long stride_b, const double* beta, double* c, std::int64_t ldc, long long stride_c,
            std::int64_t count) __asm__("cublasDgemmStridedBatched_64");

}  // namespace tenure::cuda_backend::cublas
