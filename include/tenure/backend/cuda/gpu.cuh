// SPDX-License-Identifier: BSL-1.0
// The GPU as execute.hpp sees a device: everything goes to this thread's stream, memory comes from its pool, nothing waits
// but what checks indices. Sorting is Thrust's, products are cuBLAS's: IEEE float32, never TF32, with workspace of their own,
// so that the same call gives the same bits.
#pragma once

#include <cublas_v2.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/launch.cuh>
#include <tenure/storage/cuda.hpp>

namespace tenure::cuda_backend {

namespace detail {

/// Memory for Thrust's temporaries, from the pool.
class pool_allocator {
 public:
  using value_type = char;

  char* allocate(std::ptrdiff_t bytes) {
    void* memory = nullptr;
    cuda_detail::check(cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), cuda_detail::memory_pool(), cuda_detail::current_stream()), "cudaMallocAsync");
    return static_cast<char*>(memory);
  }
  void deallocate(char* memory, std::size_t) { cudaFreeAsync(memory, cuda_detail::current_stream()); }
};

inline void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]] return;
  throw error(std::string("tenure: ") + call + ": " + cublasGetStatusString(status));
}

/// One a thread: a handle is not to be shared.
class blas {
 public:
  static blas& of_thread() {
    static thread_local blas made;
    return made;
  }
  cublasHandle_t on_stream() {
    check(cublasSetStream(handle_, cuda_detail::current_stream()), "cublasSetStream");
    return handle_;
  }

  blas(const blas&) = delete;
  blas& operator=(const blas&) = delete;
  ~blas() { cublasDestroy(handle_); }

 private:
  blas() {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  }
  cublasHandle_t handle_ = nullptr;
};

inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                           std::int64_t sa, const float* b, std::int64_t ldb, std::int64_t sb, float* c, std::int64_t ldc, std::int64_t sc, std::int64_t count) {
  const float one = 1, zero = 0;
  return cublasSgemmStridedBatched_64(h, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &zero, c, ldc, sc, count);
}
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
                           std::int64_t sa, const double* b, std::int64_t ldb, std::int64_t sb, double* c, std::int64_t ldc, std::int64_t sc, std::int64_t count) {
  const double one = 1, zero = 0;
  return cublasDgemmStridedBatched_64(h, ta, tb, m, n, k, &one, a, lda, sa, b, ldb, sb, &zero, c, ldc, sc, count);
}

}  // namespace detail

/// How BLAS reads a matrix whose rows or columns are contiguous; leading < 0: neither are.
struct blas_operand {
  bool transposed = false;
  std::int64_t leading = -1;
};
constexpr blas_operand blas_operand_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  // An extent of 1 moves nowhere, whatever its stride.
  const bool one_row = rows <= 1, one_column = columns <= 1;
  if ((column_stride == 1 || one_column) && (one_row || row_stride >= (columns > 1 ? columns : 1))) return {false, one_row ? (columns > 1 ? columns : 1) : row_stride};
  if ((row_stride == 1 || one_row) && (one_column || column_stride >= (rows > 1 ? rows : 1))) return {true, one_column ? (rows > 1 ? rows : 1) : column_stride};
  return {};
}

class gpu {
 public:
  const kernels::device_limits& limits() const {
    static const kernels::device_limits of_device = [] {
      int id = 0, multiprocessors = 0, threads = 0;
      cuda_detail::check(cudaGetDevice(&id), "cudaGetDevice");
      cuda_detail::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, id), "cudaDeviceGetAttribute");
      cuda_detail::check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, id), "cudaDeviceGetAttribute");
      return kernels::device_limits{.blocks = multiprocessors * (threads / kernels::most_threads)};
    }();
    return of_device;
  }

  tenure::detail::storage_handle allocate(std::int64_t bytes) { return cuda_detail::allocate(static_cast<std::size_t>(bytes)); }
  void zero(void* at, std::int64_t bytes) {
    if (bytes > 0) cuda_detail::check(cudaMemsetAsync(at, 0, static_cast<std::size_t>(bytes), stream()), "cudaMemsetAsync");
  }

  void copy(void* to, const void* from, std::int64_t bytes) {
    cuda_detail::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
  }

  template <class Code, class Arguments>
  void launch(Code code, const Arguments& args) {
    kernels::launch(code, args, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a fused kernel");
  }
  template <class Code, class Arguments>
  void launch_fold(Code code, const Arguments& args) {
    kernels::launch_fold(code, args, stream());
    cuda_detail::check(cudaGetLastError(), "launch of the fold of columns");
  }
  template <class F>
  void for_each(std::int64_t n, const F& f) {
    kernels::launch_elements(f, n, limits().blocks, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a function of elements");
  }

  // A template, so that who adds no rows compiles no sort.
  template <class Index>
  void sort_pairs(Index* keys, Index* values, std::int64_t n) {
    detail::pool_allocator memory;
    thrust::stable_sort_by_key(thrust::cuda::par_nosync(memory).on(stream()), keys, keys + n, values);
  }

  /// By cuBLAS where the operands' rows or columns are contiguous and its element type has one, else element by element.
  template <class T>
  void multiply(const product<T>& p) {
    if (p.rows == 0 || p.columns == 0) return;
    if constexpr (std::is_floating_point_v<T>) {
      const int batch = p.c_view.rank - 2;
      const blas_operand a = blas_operand_of(p.rows, p.inner, p.a_view.stride[batch], p.a_view.stride[batch + 1]);
      const blas_operand b = blas_operand_of(p.inner, p.columns, p.b_view.stride[batch], p.b_view.stride[batch + 1]);
      if (a.leading > 0 && b.leading > 0) return multiply_by_blas(p, a, b, 0, 0, 0, 0);
    }
    product_by_elements(*this, p);
  }

  /// What the function refuses; waits for it.
  template <class Check>
  kernels::refusal refused_by(Check f) {
    const auto memory = allocate(sizeof(kernels::refusal));
    f.refused = static_cast<kernels::refusal*>(memory.data());
    kernels::refusal answer;
    cuda_detail::check(cudaMemcpyAsync(f.refused, &answer, sizeof answer, cudaMemcpyHostToDevice, stream()), "cudaMemcpyAsync");
    for_each(f.space.size(), f);
    cuda_detail::check(cudaMemcpyAsync(&answer, f.refused, sizeof answer, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
    cuda_detail::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    return answer;
  }

 private:
  static cudaStream_t stream() { return cuda_detail::current_stream(); }

  /// One call for the innermost outer axis, and so on outwards.
  template <class T>
  void multiply_by_blas(const product<T>& p, const blas_operand& a, const blas_operand& b, int axis, std::int64_t at_a, std::int64_t at_b, std::int64_t at_c) {
    const int batch = p.c_view.rank - 2;
    if (axis + 1 < batch) {
      for (std::int64_t i = 0; i < p.c_view.extent[axis]; ++i)
        multiply_by_blas(p, a, b, axis + 1, at_a + i * p.a_view.stride[axis], at_b + i * p.b_view.stride[axis], at_c + i * p.c_view.stride[axis]);
      return;
    }
    const bool is_batched = axis < batch;
    const std::int64_t count = is_batched ? p.c_view.extent[axis] : 1;
    if (count == 0) return;
    const auto step = [&](const operand_view& v) { return is_batched ? v.stride[axis] : 0; };
    const auto flag = [](const blas_operand& x) { return x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    // BLAS is column-major: the transpose of c is that of b times that of a.
    detail::check(detail::gemm(detail::blas::of_thread().on_stream(), flag(b), flag(a), p.columns, p.rows, p.inner, p.b + at_b, b.leading, step(p.b_view), p.a + at_a, a.leading,
                               step(p.a_view), p.c + at_c, p.columns, step(p.c_view), count), "matmul");
  }
};

}  // namespace tenure::cuda_backend
