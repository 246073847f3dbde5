// SPDX-License-Identifier: BSL-1.0
// Memory of a GPU: errors of the CUDA runtime, thrown with the call that caused them; the stream on which this thread's calls
// run; memory in stream order from a pool of its own; transfers. Law: a call that throws has changed nothing that is visible;
// memory goes back to the pool only behind all work that may still use it, so that nobody waits or synchronises to be right.
// Cost: nothing is asked of the driver in the steady state; a transfer is copied once on the host, through pinned memory.
// The device is the one that was current in the process at the first allocation.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <mutex>
#include <string>

#include "../core/error.hpp"
#include "block.hpp"

namespace tenure {

/// A call of the CUDA runtime that failed: "tenure: <call>: <description> (<name>)". Errors of kernels arrive with a later call.
struct cuda_error : error {
  cuda_error(cudaError_t why, const char* call)
      : error(std::string("tenure: ") + call + ": " + cudaGetErrorString(why) + " (" + cudaGetErrorName(why) + ")"), code(why) {}
  cudaError_t code;
};

namespace cuda_detail {

using stream_t = cudaStream_t;

/// Throws cuda_error unless `result` is success; leaves no error behind for the next call to trip over.
inline void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) [[likely]] return;
  static_cast<void>(cudaGetLastError());
  throw cuda_error(result, call);
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

/// All that was given to `first` before runs before what is given to `second` from now on.
inline void order(stream_t first, stream_t second) {
  event reached;  // may be destroyed while it is awaited
  reached.record(first);
  reached.wait_on(second);
}

/// A stream in scope: one of a list for each thread, whose end is the default stream, and of one of the process.
struct scope {
  stream_t stream;
  scope* outer;
  bool is_recording = false;  // into a graph, which owns what is allocated meanwhile
  scope* next_alive = nullptr;
};
inline thread_local constinit scope* innermost = nullptr;

struct scopes_of_process {
  std::mutex busy;
  scope* first = nullptr;
};
// Memory of static tensors is freed after main, so what that needs is never destroyed.
inline scopes_of_process& alive() {
  static auto& list = *new scopes_of_process;
  return list;
}

/// Where this thread's calls run: the stream of the innermost cuda_stream, else CUDA's default stream.
inline stream_t current_stream() { return innermost == nullptr ? stream_t{} : innermost->stream; }

// ---- memory --------------------------------------------------------------------------------------------------------------

/// A pool that keeps what was freed; the driver reuses it in stream order.
inline cudaMemPool_t memory_pool() {
  static const cudaMemPool_t pool = [] {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&properties.location.id), "cudaGetDevice");
    cudaMemPool_t made = nullptr;
    check(cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate");
    unsigned long long keep = ~0ull;
    const cudaError_t set = cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep);
    if (set != cudaSuccess) cudaMemPoolDestroy(made);
    check(set, "cudaMemPoolSetAttribute");
    return made;
  }();
  return pool;
}

/// Hands memory back behind everything that this thread was given, and where other threads have streams of their own, behind
/// what those were given too: they may have used it before they let go of it.
inline void free(void* memory) noexcept {
  if (innermost != nullptr && innermost->is_recording) return static_cast<void>(cudaFreeAsync(memory, innermost->stream));
  scopes_of_process& list = alive();
  const std::lock_guard lock(list.busy);
  bool others = false;
  for (const scope* s = list.first; s != nullptr; s = s->next_alive) {
    bool mine = false;
    for (const scope* m = innermost; m != nullptr; m = m->outer) mine = mine || m == s;
    others = others || !mine;
  }
  // A failure here is that of work given before: the next call that can throw reports it.
  if (!others) return static_cast<void>(cudaFreeAsync(memory, current_stream()));
  // Its own stream, so that no thread waits for another: only the memory does.
  static const stream_t behind = [] {
    stream_t made = nullptr;
    return cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) == cudaSuccess ? made : nullptr;
  }();
  cudaEvent_t reached = nullptr;
  bool ordered = behind != nullptr && cudaEventCreateWithFlags(&reached, cudaEventDisableTiming) == cudaSuccess;
  const auto put_behind = [&](stream_t s) {
    ordered = ordered && cudaEventRecord(reached, s) == cudaSuccess && cudaStreamWaitEvent(behind, reached, 0) == cudaSuccess;
  };
  put_behind(stream_t{});
  for (const scope* s = list.first; s != nullptr; s = s->next_alive) put_behind(s->stream);
  if (!ordered) cudaDeviceSynchronize();
  cudaFreeAsync(memory, ordered ? behind : current_stream());
  if (reached != nullptr) cudaEventDestroy(reached);
}

/// A new block of at least `bytes` bytes of device memory with unspecified content, padded as on the host.
inline detail::storage_handle allocate(std::size_t bytes) {
  constexpr std::size_t unit = pool::alignment;
  if (bytes > pool::largest) throw std::bad_alloc();
  auto* const b = ::new (pool::take(sizeof(detail::block))) detail::block;
  b->bytes = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  b->release = [](detail::block* dead) noexcept {
    if (dead->payload != nullptr) cuda_detail::free(dead->payload);
    dead->~block();
    pool::give(dead, sizeof(detail::block));
  };
  detail::storage_handle made(b);
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, b->bytes, memory_pool(), current_stream()), "cudaMallocAsync");
  b->payload = memory;
  return made;
}

// ---- transfers -----------------------------------------------------------------------------------------------------------

/// Two pinned buffers in turn: the host copies into or out of one while the device works on the other. The host's memory may
/// be of any kind and is free to change as soon as a transfer returns.
class staging {
 public:
  static constexpr std::size_t chunk = std::size_t{4} << 20;

  /// One of the process, never destroyed: at its end the driver may be gone.
  static staging& of_process() {
    static auto& made = *new staging;
    return made;
  }

  void upload(void* to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(busy_);
    const stream_t stream = current_stream();
    for (std::size_t at = 0; at < bytes; at += chunk, turn_ ^= 1) {
      const std::size_t n = bytes - at < chunk ? bytes - at : chunk;
      done_[turn_].wait_on_host();
      std::memcpy(pinned_[turn_], static_cast<const char*>(from) + at, n);
      check(cudaMemcpyAsync(static_cast<char*>(to) + at, pinned_[turn_], n, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
      done_[turn_].record(stream);
    }
  }

  void download(void* to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(busy_);
    const stream_t stream = current_stream();
    const auto size = [&](std::size_t at) { return bytes - at < chunk ? bytes - at : chunk; };
    const auto start = [&](std::size_t at, int turn) {
      done_[turn].wait_on_host();  // an upload may still read it
      check(cudaMemcpyAsync(pinned_[turn], static_cast<const char*>(from) + at, size(at), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
      done_[turn].record(stream);
    };
    if (bytes != 0) start(0, turn_);
    for (std::size_t at = 0; at < bytes; at += chunk, turn_ ^= 1) {
      if (at + chunk < bytes) start(at + chunk, turn_ ^ 1);
      done_[turn_].wait_on_host();
      std::memcpy(static_cast<char*>(to) + at, pinned_[turn_], size(at));
    }
  }

 private:
  staging() {
    void* both = nullptr;
    check(cudaMallocHost(&both, 2 * chunk), "cudaMallocHost");
    pinned_[0] = static_cast<char*>(both);
    pinned_[1] = pinned_[0] + chunk;
  }

  std::mutex busy_;
  event done_[2];
  char* pinned_[2] = {};
  int turn_ = 0;
};

}  // namespace cuda_detail

/// Within its scope this thread's calls on the device run on a stream of their own, beside those of other threads, or on one
/// that another library gave: { tn::cuda_stream here; step(w, x); }. Law: it sees all that the enclosing scope was given before, and
/// the enclosing scope goes on behind all that it was given; so a tensor can be used in any scope of the thread that made it.
class cuda_stream {
 public:
  cuda_stream() : owned_(), scope_{owned_.handle, cuda_detail::innermost} { open(); }
  explicit cuda_stream(cudaStream_t theirs) : owned_(nullptr), scope_{theirs, cuda_detail::innermost} { open(); }
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  ~cuda_stream() {
    cuda_detail::innermost = scope_.outer;
    try {
      cuda_detail::order(scope_.stream, cuda_detail::current_stream());
    } catch (const cuda_error&) {  // the next call that can throw reports what is wrong with the device
      cudaStreamSynchronize(scope_.stream);
    }
    cuda_detail::scopes_of_process& list = cuda_detail::alive();
    const std::lock_guard lock(list.busy);
    cuda_detail::scope** at = &list.first;
    while (*at != &scope_) at = &(*at)->next_alive;
    *at = scope_.next_alive;
  }

  cudaStream_t handle() const { return scope_.stream; }
  /// Waits on the host for all that was given to this stream; throws what went wrong there.
  void synchronize() const { cuda_detail::check(cudaStreamSynchronize(scope_.stream), "cudaStreamSynchronize"); }

 private:
  struct owned {
    // Not ordered with the default stream but where the law says so.
    owned() { cuda_detail::check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreate"); }
    explicit owned(std::nullptr_t) {}
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    ~owned() {
      if (handle != nullptr) cudaStreamDestroy(handle);  // once its work is done
    }
    cudaStream_t handle = nullptr;
  };

  void open() {
    cuda_detail::order(cuda_detail::current_stream(), scope_.stream);
    cuda_detail::scopes_of_process& list = cuda_detail::alive();
    const std::lock_guard lock(list.busy);
    scope_.next_alive = list.first;
    list.first = &scope_;
    cuda_detail::innermost = &scope_;
  }

  owned owned_;
  cuda_detail::scope scope_;
};

/// Waits on the host for all that this thread gave to the device; throws what went wrong there.
inline void cuda_synchronize() { cuda_detail::check(cudaStreamSynchronize(cuda_detail::current_stream()), "cudaStreamSynchronize"); }

}  // namespace tenure
