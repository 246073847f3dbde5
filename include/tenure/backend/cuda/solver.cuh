// SPDX-License-Identifier: BSL-1.0
// LAPACK's functions of the GPU (decompositions.hpp), by cuSOLVER. Each matrix is column-major. info is device memory that a function writes.
// Cost: memory as large as the largest matrix of a call for each thread and stream, which is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <tenure/backend/cuda/cusolver.hpp>
#include <tenure/backend/cuda/decompositions.hpp>
#include <tenure/storage/cuda.hpp>

namespace TENURE_NAMESPACE::cuda_backend::detail {

inline void check(cusolver::status status, const char* call) {
  if (status == cusolver::status::success) [[likely]] return;
  throw error(tenure::detail::message(call) << "cuSOLVER says status " << static_cast<int>(status));
}

/// A cuSOLVER handle, and the memory of its functions. Each thread has one, because threads must not share a handle.
class solver {
 public:
  static solver& of_thread() {
    static thread_local solver made;
    return made;
  }
  solver(const solver&) = delete;
  solver& operator=(const solver&) = delete;
  ~solver() { cusolver::destroy(handle_); }

  /// Takes the memory for these functions, and for matrices up to these extents.
  void prepare(const decomposition_needs& needs) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (needs.rows > most || needs.columns > most) throw error(tenure::detail::message("decompositions") << "a matrix of " << needs.rows << " rows is too large for cuSOLVER");
    bytes_ = needs.is_wide ? bytes_for<double>(needs) : bytes_for<float>(needs);
    if (bytes_ > 0) memory_.of_current_stream(bytes_);
  }

  template <class T>
  void factor_definite(int n, T* a, int* info) {
    check(cusolver::lapack<T>::potrf(on_stream(), cusolver::triangle::upper, n, a, n, memory<T>(), size<T>(), info), "cholesky");
  }
  template <class T>
  void factor(int n, T* a, int* pivots, int* info) { check(cusolver::lapack<T>::getrf(on_stream(), n, n, a, n, memory<T>(), pivots, info), "solve"); }
  template <class T>
  void solve_factored(int n, int columns, const T* a, const int* pivots, bool transposed, T* b, int* info) {
    const auto flag = transposed ? cusolver::operation::transpose : cusolver::operation::none;
    check(cusolver::lapack<T>::getrs(on_stream(), flag, n, columns, a, n, pivots, b, n, info), "solve");
  }
  template <class T>
  void symmetric(int n, T* a, T* w, bool has_vectors, int* info) {
    const auto wanted = has_vectors ? cusolver::vectors::all : cusolver::vectors::none;
    check(cusolver::lapack<T>::syevd(on_stream(), wanted, cusolver::triangle::upper, n, a, n, w, memory<T>(), size<T>(), info), "eigh");
  }
  template <class T>
  void reflect(int rows, int columns, T* a, T* scales, int* info) {
    check(cusolver::lapack<T>::geqrf(on_stream(), rows, columns, a, rows, scales, memory<T>(), size<T>(), info), "qr");
  }
  template <class T>
  void orthonormal(int rows, int count, T* a, const T* scales, int* info) {
    check(cusolver::lapack<T>::orgqr(on_stream(), rows, count, count, a, rows, scales, memory<T>(), size<T>(), info), "qr");
  }
  template <class T>
  void singular(int rows, int columns, T* a, T* s, T* u, T* vt, int* info) {
    check(cusolver::lapack<T>::gesvd(on_stream(), 'S', 'S', rows, columns, a, rows, s, u, rows, vt, columns, memory<T>(), size<T>(), nullptr, info), "svd");
  }

 private:
  solver() { check(cusolver::create(&handle_), "cusolverDnCreate"); }

  cusolver::handle on_stream() {
    check(cusolver::set_stream(handle_, cuda_detail::current_stream()), "cusolverDnSetStream");
    return handle_;
  }
  template <class T>
  T* memory() { return bytes_ > 0 ? static_cast<T*>(memory_.of_current_stream(bytes_)) : nullptr; }
  template <class T>
  int size() const { return static_cast<int>(bytes_ / sizeof(T)); }

  /// The sizes do not fall with the extents of a matrix, so those of the largest serve all.
  template <class T>
  std::size_t bytes_for(const decomposition_needs& needs) {
    using of = cusolver::lapack<T>;
    const int rows = static_cast<int>(needs.rows), columns = static_cast<int>(needs.columns), more = rows > columns ? rows : columns;
    int most = 0;
    const auto want = [&](unsigned function, const char* call, auto ask) {
      int size = 0;
      if ((needs.functions & function) != 0) check(ask(&size), call);
      most = size > most ? size : most;
    };
    cusolver::handle const h = on_stream();
    T* const none = nullptr;
    want(decomposition_needs::definite, "cholesky", [&](int* size) { return of::potrf_size(h, cusolver::triangle::upper, rows, none, rows, size); });
    want(decomposition_needs::general, "solve", [&](int* size) { return of::getrf_size(h, rows, rows, none, rows, size); });
    want(decomposition_needs::symmetric, "eigh", [&](int* size) { return of::syevd_size(h, cusolver::vectors::all, cusolver::triangle::upper, rows, none, rows, none, size); });
    want(decomposition_needs::orthonormal, "qr", [&](int* size) { return of::geqrf_size(h, more, more, none, more, size); });
    want(decomposition_needs::orthonormal, "qr", [&](int* size) { return of::orgqr_size(h, more, more, more, none, more, none, size); });
    want(decomposition_needs::singular, "svd", [&](int* size) { return of::gesvd_size(h, more, more, size); });
    return static_cast<std::size_t>(most) * sizeof(T);
  }

  cusolver::handle handle_ = nullptr;
  std::size_t bytes_ = 0;
  cuda_detail::stream_memory memory_;
};

}  // namespace tenure::cuda_backend::detail
