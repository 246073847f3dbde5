// SPDX-License-Identifier: BSL-1.0
// The GPU as a device for execute.hpp. All work goes to the stream of this thread, memory comes from the pool. The host waits only for
// checks of indices and for read(). Products run in cuBLAS, in IEEE float32 and never in TF32. They are repeatable: cuBLAS promises the
// same bits on GPUs with the same number of multiprocessors, even while several streams are busy, because each stream has its own
// workspace.
#pragma once

#include <tenure/backend/cuda/cublas.hpp>
#if TENURE_CUSOLVER
#include <tenure/backend/cuda/solver.cuh>
#endif
#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/launch.cuh>
#include <tenure/storage/cuda.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

namespace detail {

inline void check(cublas::status status, const char* call) {
  if (status == cublas::status::success) [[likely]] return;
  throw error(tenure::detail::message(call) << cublas::status_string(status));
}

/// A cuBLAS handle. Each thread has one, because threads must not share a handle.
class blas {
 public:
  static blas& of_thread() {
    static thread_local blas made;
    return made;
  }
  cublas::handle on_stream() {
    check(cublas::set_stream(handle_, cuda_detail::current_stream()), "cublasSetStream");
    check(cublas::set_workspace(handle_, workspace_.of_current_stream(workspace_bytes), workspace_bytes), "cublasSetWorkspace");  // set_stream has reset it
    return handle_;
  }

  blas(const blas&) = delete;
  blas& operator=(const blas&) = delete;
  ~blas() { cublas::destroy(handle_); }

 private:
  blas() {
    check(cublas::create(&handle_), "cublasCreate");
    check(cublas::set_math_mode(handle_, cublas::math_mode::pedantic), "cublasSetMathMode");
  }
  // NVIDIA's recommendation for the GPU with the largest need.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  cublas::handle handle_ = nullptr;
  cuda_detail::stream_memory workspace_;
};

}  // namespace detail

class gpu {
 public:
  /// The limits of the GPU. shared_bytes is the most shared memory that a block may request, but at most so much that an
  /// H100 runs two blocks at once.
  static kernels::device_limits limits() {
    static const int shared_bytes = [] {
      int most = 0;
      cuda_detail::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda_detail::device_of_process()), "cudaDeviceGetAttribute");
      return (most < 97 << 10 ? most : 97 << 10) - (1 << 10);
    }();
    kernels::device_limits l;
    l.shared_bytes = shared_bytes;
    return l;
  }

  tenure::detail::storage_handle allocate(std::int64_t bytes) { return cuda_detail::allocate(static_cast<std::size_t>(bytes)); }
  void zero(void* at, std::int64_t bytes) {
    if (bytes > 0) cuda_detail::check(cudaMemsetAsync(at, 0, static_cast<std::size_t>(bytes), stream()), "cudaMemsetAsync");
  }

  void copy(void* to, const void* from, std::int64_t bytes) {
    cuda_detail::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
  }

  template <class Name, class Arguments>
  void launch(Name name, const Arguments& args) {
    kernels::launch(name, args, limits().shared_bytes, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a fused kernel");
  }
  template <class Name, class Arguments>
  void launch_fold(Name name, const Arguments& args) {
    kernels::launch_fold(name, args, stream());
    cuda_detail::check(cudaGetLastError(), "launch of the fold of columns");
  }
  template <class F>
  void for_each(std::int64_t n, const F& f) {
    kernels::launch_elements(f, n, limits().blocks, stream());
    cuda_detail::check(cudaGetLastError(), "launch of a function of elements");
  }

  /// Takes the memory of cuBLAS for this stream, before a call writes anything.
  void prepare_products() { detail::blas::of_thread().on_stream(); }
  template <class T>
  void multiply(const blas_product<T>& p) {
    const auto flag = [](bool transposed) { return transposed ? cublas::operation::transpose : cublas::operation::none; };
    const T one = 1, zero = 0;
    detail::check(cublas::gemm(detail::blas::of_thread().on_stream(), flag(p.a.transposed), flag(p.b.transposed), p.m, p.n, p.k, &one, p.a.first, p.a.leading,
                               p.a.step, p.b.first, p.b.leading, p.b.step, &zero, p.c, p.m, p.c_step, p.count),
                  "matmul");
  }

#if TENURE_CUSOLVER
  /// Takes the memory of these functions for this stream, before a call writes anything. Triangular systems are cuBLAS'.
  void prepare_decompositions(const decomposition_needs& needs) {
    if ((needs.functions & decomposition_needs::triangular) != 0) prepare_products();
    if ((needs.functions & ~unsigned{decomposition_needs::triangular}) != 0) detail::solver::of_thread().prepare(needs);
  }
  template <class T>
  void factor_definite(std::int64_t n, T* a, int* info) { detail::solver::of_thread().factor_definite(static_cast<int>(n), a, info); }
  template <class T>
  void factor(std::int64_t n, T* a, int* pivots, int* info) { detail::solver::of_thread().factor(static_cast<int>(n), a, pivots, info); }
  template <class T>
  void solve_factored(std::int64_t n, std::int64_t columns, const T* a, const int* pivots, bool transposed, T* b, int* info) {
    detail::solver::of_thread().solve_factored(static_cast<int>(n), static_cast<int>(columns), a, pivots, transposed, b, info);
  }
  template <class T>
  void symmetric(std::int64_t n, T* a, T* w, bool has_vectors, int* info) { detail::solver::of_thread().symmetric(static_cast<int>(n), a, w, has_vectors, info); }
  template <class T>
  void reflect(std::int64_t rows, std::int64_t columns, T* a, T* scales, int* info) {
    detail::solver::of_thread().reflect(static_cast<int>(rows), static_cast<int>(columns), a, scales, info);
  }
  template <class T>
  void orthonormal(std::int64_t rows, std::int64_t count, T* a, const T* scales, int* info) {
    detail::solver::of_thread().orthonormal(static_cast<int>(rows), static_cast<int>(count), a, scales, info);
  }
  template <class T>
  void singular(std::int64_t rows, std::int64_t columns, T* a, T* s, T* u, T* vt, int* info) {
    detail::solver::of_thread().singular(static_cast<int>(rows), static_cast<int>(columns), a, s, u, vt, info);
  }
  template <class T>
  void solve_from_right(std::int64_t rows, std::int64_t n, ops::triangle_options of, const T* a, T* b) {
    using namespace cusolver;
    const T one = 1;
    detail::check(lapack<T>::trsm(detail::blas::of_thread().on_stream(), side::right, of.is_upper ? triangle::upper : triangle::lower,
                                  of.is_transposed ? operation::transpose : operation::none, of.has_unit_diagonal ? diagonal::ones : diagonal::stored, rows, n, &one, a, n, b, rows),
                  "solve_triangular");
  }
#endif

  /// Runs a check and returns the index that it found outside its axis, if any. It waits for the device, and writes the answer to
  /// device memory for an index fault first.
  template <class Check>
  kernels::index_fault refused_by(Check f, void* scratch) {
    f.refused = static_cast<kernels::index_fault*>(scratch);
    kernels::index_fault answer;
    cuda_detail::check(cudaMemcpyAsync(f.refused, &answer, sizeof answer, cudaMemcpyHostToDevice, stream()), "cudaMemcpyAsync");
    for_each(f.space.size(), f);
    read(&answer, f.refused, sizeof answer);
    return answer;
  }

  /// Takes the memory of read(), before a call writes anything.
  void prepare_reads() { cuda_detail::answer::of_thread(); }
  /// Copies a few bytes to the host. It waits for the device.
  void read(void* to, const void* from, std::size_t bytes) { cuda_detail::answer::of_thread().read(to, from, bytes); }

 private:
  static cudaStream_t stream() { return cuda_detail::current_stream(); }
};

}  // namespace tenure::cuda_backend
