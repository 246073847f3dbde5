// SPDX-License-Identifier: BSL-1.0
// The streams on which the calls of a thread run, errors of the CUDA runtime as exceptions, and events. Law: a call that throws has changed
// nothing that is visible. All memory is on the device that was current in the process at the first allocation.
#pragma once

#include <cuda_runtime_api.h>

#include "../../core/error.hpp"
#include "lane.hpp"

namespace TENURE_NAMESPACE {

/// Thrown when a call of the CUDA runtime fails: "tenure: <call>: <description> (<name>)". The error of a kernel is reported by a
/// later call, because kernels run asynchronously.
struct cuda_error : error {
  cuda_error(cudaError_t why, const char* call)
      : error(detail::message(call) << cudaGetErrorString(why) << " (" << cudaGetErrorName(why) << ")"), code(why) {}
  cudaError_t code;
};

namespace cuda_detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(cudaError_t result, const char* call) {
  static_cast<void>(cudaGetLastError());
  throw cuda_error(result, call);
}
/// Throws cuda_error unless `result` is success. It also clears CUDA's last error, so that the next call does not report it again.
inline void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) [[unlikely]] fail(result, call);
}

class event : detail::not_copied {
 public:
  event() { check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~event() { cudaEventDestroy(handle_); }

  void record(stream_t s) { check(cudaEventRecord(handle_, s), "cudaEventRecord"); }
  void wait_on_host() { check(cudaEventSynchronize(handle_), "cudaEventSynchronize"); }
  void wait_on(stream_t s) { check(cudaStreamWaitEvent(s, handle_, 0), "cudaStreamWaitEvent"); }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Orders two streams: work given to `second` after this call starts after all work that `first` has now.
inline void order(stream_t first, stream_t second) {
  event reached;  // CUDA allows its destruction while a stream waits for it
  reached.record(first);
  reached.wait_on(second);
}

}  // namespace cuda_detail

/// While an object of this class exists, the calls of its thread run on a stream of their own, in parallel with other threads, or
/// on the stream of another library that is given to the constructor: { tn::cuda_stream here; step(w, x); }. Law: work in the
/// scope starts after all work given to the enclosing scope before, and later work of the enclosing scope starts after all work
/// of this scope. So a tensor can be used in every scope of the thread that made it. The constructor throws cuda_error.
class cuda_stream : detail::not_copied {
 public:
  /// Opens a scope with a new stream.
  cuda_stream() : owned_(), scope_{owned_.handle, cuda_detail::innermost} { open(); }
  /// Opens a scope with the stream of another library, which must outlive the scope.
  explicit cuda_stream(cudaStream_t theirs) : owned_(nullptr), scope_{theirs, cuda_detail::innermost} { open(); }
  ~cuda_stream() {
    cuda_detail::innermost = scope_.outer;
    try {
      cuda_detail::order(scope_.stream, cuda_detail::current_stream());
    } catch (const cuda_error&) {  // a destructor does not throw; the next call that can throw reports the error of the device
      cudaStreamSynchronize(scope_.stream);
    }
    cuda_detail::set_last_stream();
  }

  /// The CUDA stream, for calls of other libraries.
  cudaStream_t handle() const { return scope_.stream; }
  /// Waits on the host until all work given to this stream is done. Throws cuda_error if that work failed.
  void synchronize() const { cuda_detail::check(cudaStreamSynchronize(scope_.stream), "cudaStreamSynchronize"); }

 private:
  struct owned : private detail::not_copied {
    // A non-blocking stream: it is ordered with the default stream only as the law above says.
    owned() { cuda_detail::check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreate"); }
    explicit owned(std::nullptr_t) {}
    ~owned() {
      if (handle != nullptr) cudaStreamDestroy(handle);  // CUDA frees the stream after its work is done
    }
    cudaStream_t handle = nullptr;
  };

  void open() {
    cuda_detail::own_bit();  // first, so that this stream comes behind what earlier threads of the lane gave
    cuda_detail::order(cuda_detail::current_stream(), scope_.stream);
    cuda_detail::innermost = &scope_;
    cuda_detail::set_last_stream();
  }

  owned owned_;
  cuda_detail::scope scope_;
};

/// Waits on the host until all work that this thread gave to the device is done. Throws cuda_error if that work failed.
inline void cuda_synchronize() { cuda_detail::check(cudaStreamSynchronize(cuda_detail::current_stream()), "cudaStreamSynchronize"); }

}  // namespace tenure
