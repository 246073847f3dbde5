// SPDX-License-Identifier: BSL-1.0
// The GPU as execute.hpp sees a device: everything goes to this thread's stream, memory comes from its pool, nothing waits
// but what checks indices. Products are cuBLAS's: IEEE float32, never TF32, and repeatable: it promises the same bits on GPUs with as
// many multiprocessors, also where several streams are busy, since it is given a workspace for each.
#pragma once

#if !defined(__CUDA_ARCH__)  // nothing of it runs on the device, and it is long
#include <cublas_v2.h>
#endif

#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/launch.cuh>
#include <tenure/storage/cuda.hpp>

namespace tenure::cuda_backend {

#if !defined(__CUDA_ARCH__)
namespace detail {

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
    check(cublasSetWorkspace(handle_, workspace_.of_current_stream(workspace_bytes), workspace_bytes), "cublasSetWorkspace");  // which the stream has reset
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
  // What NVIDIA recommends for the GPU that wants most.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  cublasHandle_t handle_ = nullptr;
  cuda_detail::stream_memory workspace_;
};

}  // namespace detail
#endif

class gpu {
 public:
  static constexpr kernels::device_limits limits() { return {}; }

  tenure::detail::storage_handle allocate(std::int64_t bytes) { return cuda_detail::allocate(static_cast<std::size_t>(bytes)); }
  void zero(void* at, std::int64_t bytes) {
    if (bytes > 0) cuda_detail::check(cudaMemsetAsync(at, 0, static_cast<std::size_t>(bytes), stream()), "cudaMemsetAsync");
  }

  void copy(void* to, const void* from, std::int64_t bytes) {
    cuda_detail::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
  }

  template <class Name, class Arguments>
  void launch(Name code, const Arguments& args) {
    kernels::launch(code, args, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a fused kernel");
  }
  template <class Name, class Arguments>
  void launch_fold(Name code, const Arguments& args) {
    kernels::launch_fold(code, args, stream());
    cuda_detail::check(cudaGetLastError(), "launch of the fold of columns");
  }
  template <class F>
  void for_each(std::int64_t n, const F& f) {
    kernels::launch_elements(f, n, limits().blocks, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a function of elements");
  }

  template <class T>
  void multiply([[maybe_unused]] const blas_product<T>& p) {
#if !defined(__CUDA_ARCH__)
    const auto flag = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const T one = 1, zero = 0;
    const auto call = [&](auto gemm) {
      return gemm(detail::blas::of_thread().on_stream(), flag(p.a.transposed), flag(p.b.transposed), p.m, p.n, p.k, &one, p.a.first, p.a.leading, p.a.step,
                  p.b.first, p.b.leading, p.b.step, &zero, p.c, p.m, p.c_step, p.count);
    };
    if constexpr (std::is_same_v<T, float>) detail::check(call(cublasSgemmStridedBatched_64), "matmul");
    else detail::check(call(cublasDgemmStridedBatched_64), "matmul");
#endif
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
};

}  // namespace tenure::cuda_backend
