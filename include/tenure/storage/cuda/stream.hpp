// SPDX-License-Identifier: BSL-1.0
// The streams on which the calls of a thread run, errors of the CUDA runtime as exceptions, and events. Law: a call that throws has changed
// nothing that is visible. All memory is on the device that was current in the process at the first allocation.
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <vector>

#include "../../core/error.hpp"
#include "../block.hpp"

namespace TENURE_NAMESPACE {

/// Thrown when a call of the CUDA runtime fails: "tenure: <call>: <description> (<name>)". The error of a kernel is reported by a
/// later call, because kernels run asynchronously.
struct cuda_error : error {
  cuda_error(cudaError_t why, const char* call)
      : error(detail::message(call) << cudaGetErrorString(why) << " (" << cudaGetErrorName(why) << ")"), code(why) {}
  cudaError_t code;
};

namespace cuda_detail {

using stream_t = cudaStream_t;

/// A mutex. It is not std::mutex, because that header takes nvcc 0.2 s.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

 private:
  friend class lock;
  pthread_mutex_t handle_ = PTHREAD_MUTEX_INITIALIZER;
};
class lock {
 public:
  explicit lock(mutex& m) : of_(m) { pthread_mutex_lock(&of_.handle_); }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;
  ~lock() { pthread_mutex_unlock(&of_.handle_); }

 private:
  mutex& of_;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(cudaError_t result, const char* call) {
  static_cast<void>(cudaGetLastError());
  throw cuda_error(result, call);
}
/// Throws cuda_error unless `result` is success. It also clears CUDA's last error, so that the next call does not report it again.
inline void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) [[unlikely]] fail(result, call);
}

class event {
 public:
  event() { check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "cudaEventCreate"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
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

/// A stream that a cuda_stream object has opened. It is in two lists: the nested scopes of its thread (`outer`; after the last
/// one comes the default stream) and all scopes of the process (`next_alive`).
struct scope {
  stream_t stream;
  scope* outer;
  std::vector<detail::storage_handle>* recorded = nullptr;  // while a graph is recorded: the memory that the graph uses, else null
  scope* next_alive = nullptr;
};
inline thread_local constinit scope* innermost = nullptr;

struct scopes_of_process {
  mutex busy;
  scope* first = nullptr;
};
// This object is never destroyed, because static tensors free their memory after main and need it then.
inline scopes_of_process& alive() {
  static auto& list = *new scopes_of_process;
  return list;
}

// The number of threads that have used the default stream. All threads share that stream.
inline constinit detail::atomic<int> threads_on_default{0};
inline thread_local constinit bool is_on_default = false;

inline stream_t default_stream() {
  if (!is_on_default) is_on_default = true, threads_on_default.fetch_add(1);
  return stream_t{};
}

/// The stream on which the calls of this thread run: that of the innermost cuda_stream, else CUDA's default stream.
inline stream_t current_stream() { return innermost == nullptr ? default_stream() : innermost->stream; }
/// The same, but not the stream on which a graph is being recorded: then it is the next outer one.
inline stream_t running_stream() {
  const scope* s = innermost;
  if (s != nullptr && s->recorded != nullptr) s = s->outer;
  return s == nullptr ? default_stream() : s->stream;
}

}  // namespace cuda_detail

/// While an object of this class exists, the calls of its thread run on a stream of their own, in parallel with other threads, or
/// on the stream of another library that is given to the constructor: { tn::cuda_stream here; step(w, x); }. Law: work in the
/// scope starts after all work given to the enclosing scope before, and later work of the enclosing scope starts after all work
/// of this scope. So a tensor can be used in every scope of the thread that made it. The constructor throws cuda_error.
class cuda_stream {
 public:
  /// Opens a scope with a new stream.
  cuda_stream() : owned_(), scope_{owned_.handle, cuda_detail::innermost} { open(); }
  /// Opens a scope with the stream of another library, which must outlive the scope.
  explicit cuda_stream(cudaStream_t theirs) : owned_(nullptr), scope_{theirs, cuda_detail::innermost} { open(); }
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  ~cuda_stream() {
    cuda_detail::innermost = scope_.outer;
    try {
      cuda_detail::order(scope_.stream, cuda_detail::current_stream());
    } catch (const cuda_error&) {  // a destructor does not throw; the next call that can throw reports the error of the device
      cudaStreamSynchronize(scope_.stream);
    }
    cuda_detail::scopes_of_process& list = cuda_detail::alive();
    const cuda_detail::lock held(list.busy);
    cuda_detail::scope** at = &list.first;
    while (*at != &scope_) at = &(*at)->next_alive;
    *at = scope_.next_alive;
  }

  /// The CUDA stream, for calls of other libraries.
  cudaStream_t handle() const { return scope_.stream; }
  /// Waits on the host until all work given to this stream is done. Throws cuda_error if that work failed.
  void synchronize() const { cuda_detail::check(cudaStreamSynchronize(scope_.stream), "cudaStreamSynchronize"); }

 private:
  struct owned {
    // A non-blocking stream: it is ordered with the default stream only as the law above says.
    owned() { cuda_detail::check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreate"); }
    explicit owned(std::nullptr_t) {}
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    ~owned() {
      if (handle != nullptr) cudaStreamDestroy(handle);  // CUDA frees the stream after its work is done
    }
    cudaStream_t handle = nullptr;
  };

  void open() {
    cuda_detail::order(cuda_detail::current_stream(), scope_.stream);
    cuda_detail::scopes_of_process& list = cuda_detail::alive();
    const cuda_detail::lock held(list.busy);
    scope_.next_alive = list.first;
    list.first = &scope_;
    cuda_detail::innermost = &scope_;
  }

  owned owned_;
  cuda_detail::scope scope_;
};

/// Waits on the host until all work that this thread gave to the device is done. Throws cuda_error if that work failed.
inline void cuda_synchronize() { cuda_detail::check(cudaStreamSynchronize(cuda_detail::current_stream()), "cudaStreamSynchronize"); }

}  // namespace tenure
