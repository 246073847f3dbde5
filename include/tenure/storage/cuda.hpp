// SPDX-License-Identifier: BSL-1.0
// Memory of a GPU: errors of the CUDA runtime, thrown with the call that caused them; the stream on which this thread's calls
// run; memory in stream order from a pool of its own; transfers. Law: a call that throws has changed nothing that is visible;
// memory goes back to the pool only behind all work that may still use it, so that nobody waits or synchronises to be right.
// Cost: nothing is asked of the driver in the steady state; a transfer is copied once on the host, through pinned memory.
// The device is the one that was current in the process at the first allocation.
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <cstring>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "block.hpp"

namespace TENURE_NAMESPACE {

/// A call of the CUDA runtime that failed: "tenure: <call>: <description> (<name>)". Errors of kernels arrive with a later call.
struct cuda_error : error {
  cuda_error(cudaError_t why, const char* call)
      : error(detail::message(call) << cudaGetErrorString(why) << " (" << cudaGetErrorName(why) << ")"), code(why) {}
  cudaError_t code;
};

namespace cuda_detail {

using stream_t = cudaStream_t;

/// std::mutex, whose header costs nvcc 0.2 s.
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
/// Throws cuda_error unless `result` is success; leaves no error behind for the next call to trip over.
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
  std::vector<detail::storage_handle>* recorded = nullptr;  // of a graph that is being recorded: the memory that it uses
  scope* next_alive = nullptr;
};
inline thread_local constinit scope* innermost = nullptr;

struct scopes_of_process {
  mutex busy;
  scope* first = nullptr;
};
// Memory of static tensors is freed after main, so what that needs is never destroyed.
inline scopes_of_process& alive() {
  static auto& list = *new scopes_of_process;
  return list;
}

// Threads that have given anything to the default stream, which is one for all of them.
inline constinit detail::atomic<int> threads_on_default{0};
inline thread_local constinit bool is_on_default = false;

inline stream_t default_stream() {
  if (!is_on_default) is_on_default = true, threads_on_default.fetch_add(1);
  return stream_t{};
}

/// Where this thread's calls run: the stream of the innermost cuda_stream, else CUDA's default stream.
inline stream_t current_stream() { return innermost == nullptr ? default_stream() : innermost->stream; }
/// The same, but outside a graph that is being recorded.
inline stream_t running_stream() {
  const scope* s = innermost;
  if (s != nullptr && s->recorded != nullptr) s = s->outer;
  return s == nullptr ? default_stream() : s->stream;
}

// ---- memory --------------------------------------------------------------------------------------------------------------

inline int device_of_process() {
  static const int id = [] {
    int current = 0;
    check(cudaGetDevice(&current), "cudaGetDevice");
    return current;
  }();
  return id;
}

/// A pool that keeps what was freed; the driver reuses it in stream order.
inline cudaMemPool_t memory_pool() {
  static const cudaMemPool_t pool = [] {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device_of_process();
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

/// Hands memory back behind everything that this thread was given, and where other threads have given work to other streams, behind
/// that too: they may have used it before they let go of it.
inline void free(void* memory) noexcept {
  scopes_of_process& list = alive();
  const lock held(list.busy);
  const stream_t here = running_stream();
  bool others = here != stream_t{} && threads_on_default.load() > int{is_on_default};
  for (const scope* s = list.first; s != nullptr; s = s->next_alive) {
    bool mine = false;
    for (const scope* m = innermost; m != nullptr; m = m->outer) mine = mine || m == s;
    others = others || !mine;
  }
  // A failure here is that of work given before: the next call that can throw reports it.
  if (!others) return static_cast<void>(cudaFreeAsync(memory, here));
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
  cudaFreeAsync(memory, ordered ? behind : here);
  if (reached != nullptr) cudaEventDestroy(reached);
}

/// A new block of at least `bytes` bytes of device memory with unspecified content, padded as on the host. What is allocated
/// while a graph is recorded stays the graph's, and was there before it: a recorded allocation would tie it to one address space.
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
  if (innermost != nullptr && innermost->recorded != nullptr) innermost->recorded->push_back(made);
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, b->bytes, memory_pool(), running_stream()), "cudaMallocAsync");
  b->payload = memory;
  return made;
}

/// Memory for what calls on one stream leave behind for none of their own: kept from call to call, and apart for each stream and for
/// each graph that is recorded, which keeps it.
class stream_memory {
 public:
  void* of_current_stream(std::size_t bytes) {
    const auto* const recorded = innermost == nullptr ? nullptr : innermost->recorded;
    bool is_ours = memory_ && stream_ == current_stream() && is_recorded_ == (recorded != nullptr);
    if (recorded != nullptr) {  // a graph of the past may have had the same stream
      bool is_kept = false;
      for (const detail::storage_handle& m : *recorded) is_kept = is_kept || (memory_ && m.data() == memory_.data());
      is_ours = is_ours && is_kept;
    }
    if (!is_ours) {
      memory_ = {};
      memory_ = allocate(bytes);
      stream_ = current_stream();
      is_recorded_ = recorded != nullptr;
    }
    return memory_.data();
  }

 private:
  detail::storage_handle memory_;
  stream_t stream_ = nullptr;
  bool is_recorded_ = false;
};

// ---- transfers -----------------------------------------------------------------------------------------------------------

/// Pinned memory in two halves, which are filled in turn: the host copies into or out of one while the device works on the
/// other. The host's memory may be of any kind and is free to change as soon as a transfer returns. Cost: the host waits for the
/// device only where a half is full that the device has not read yet; so thousands of numbers go there without a wait.
class staging {
 public:
  static constexpr std::size_t half_bytes = std::size_t{4} << 20;

  /// One of the process, never destroyed: at its end the driver may be gone.
  static staging& of_process() {
    static auto& made = *new staging;
    return made;
  }

  void upload(void* to, const void* from, std::size_t bytes) {
    const lock held(busy_);
    const stream_t stream = current_stream();
    for (std::size_t at = 0; at < bytes; at += half_bytes) {
      const std::size_t n = piece(bytes, at);
      char* const pinned = reserve(n, stream);
      std::memcpy(pinned, static_cast<const char*>(from) + at, n);
      start(static_cast<char*>(to) + at, pinned, n, cudaMemcpyHostToDevice, stream);
    }
  }

  void download(void* to, const void* from, std::size_t bytes) {
    const lock held(busy_);
    const stream_t stream = current_stream();
    const auto begin = [&](std::size_t at) {
      char* const pinned = reserve(piece(bytes, at), stream);
      start(pinned, static_cast<const char*>(from) + at, piece(bytes, at), cudaMemcpyDeviceToHost, stream);
      return pinned;
    };
    const char* arriving = bytes == 0 ? nullptr : begin(0);
    for (std::size_t at = 0; at < bytes; at += half_bytes) {
      half& used = half_[turn_];
      const char* const following = at + half_bytes < bytes ? begin(at + half_bytes) : nullptr;
      used.done.wait_on_host();
      std::memcpy(static_cast<char*>(to) + at, arriving, piece(bytes, at));
      arriving = following;
    }
  }

 private:
  struct half {
    char* memory = nullptr;
    std::size_t used = 0;
    stream_t stream = nullptr;
    event done;
  };

  staging() {
    void* both = nullptr;
    check(cudaMallocHost(&both, 2 * half_bytes), "cudaMallocHost");
    half_[0].memory = static_cast<char*>(both);
    half_[1].memory = half_[0].memory + half_bytes;
  }

  static std::size_t piece(std::size_t bytes, std::size_t at) { return bytes - at < half_bytes ? bytes - at : half_bytes; }

  char* reserve(std::size_t bytes, stream_t stream) {
    const std::size_t padded = (bytes + 63) / 64 * 64;
    half* h = &half_[turn_];
    if (h->used + padded > half_bytes || (h->used > 0 && h->stream != stream)) {  // one event speaks for one stream
      turn_ ^= 1;
      h = &half_[turn_];
      h->done.wait_on_host();
      h->used = 0;
    }
    h->stream = stream;
    char* const at = h->memory + h->used;
    h->used += padded;
    return at;
  }

  void start(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, stream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
    try {
      half_[turn_].done.record(stream);
    } catch (const cuda_error&) {  // nothing else says when this half is free again
      cudaStreamSynchronize(stream);
      throw;
    }
  }

  mutex busy_;
  half half_[2];
  int turn_ = 0;
};

// ---- graphs --------------------------------------------------------------------------------------------------------------

/// What was launched once, launched again as a whole. Law: launch() does what record(f)'s f() put on the current stream, on the
/// same addresses. Cost: one call of the driver; recording costs what f() costs and, where the shape of the graph is new,
/// instantiating it.
class graph {
 public:
  graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  /// Nothing runs yet. Throws what f() throws, and is then what it was; empty where the driver refuses the graph.
  template <class F>
  void record(F f) {
    if (stream_ == nullptr) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    std::vector<detail::storage_handle> memory;
    const recorded made{capture(f, memory)};
    if (executable_ != nullptr) {
      cudaGraphExecUpdateResultInfo why{};
      if (cudaGraphExecUpdate(executable_, made.graph, &why) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        cudaGraphExecDestroy(std::exchange(executable_, nullptr));
      }
    }
    if (executable_ == nullptr) check(cudaGraphInstantiate(&executable_, made.graph, 0), "cudaGraphInstantiate");
    memory_.swap(memory);  // what the last recording used goes back behind its launches
  }

  void launch() { check(cudaGraphLaunch(executable_, current_stream()), "cudaGraphLaunch"); }
  explicit operator bool() const { return executable_ != nullptr; }

 private:
  struct recorded {
    ~recorded() {
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
    cudaGraph_t graph;
  };
  struct recording_scope : scope {
    recording_scope(stream_t s, std::vector<detail::storage_handle>& memory) : scope{s, innermost, &memory} { innermost = this; }
    ~recording_scope() { innermost = outer; }
  };

  template <class F>
  cudaGraph_t capture(F& f, std::vector<detail::storage_handle>& memory) {
    const recording_scope here(stream_, memory);
    // Relaxed: allocations on other streams are none of the recording's business.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    cudaGraph_t made = nullptr;
    try {
      f();
    } catch (...) {
      if (cudaStreamEndCapture(stream_, &made) == cudaSuccess) cudaGraphDestroy(made);
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check(cudaStreamEndCapture(stream_, &made), "cudaStreamEndCapture");
    return made;
  }

  stream_t stream_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<detail::storage_handle> memory_;
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
    const cuda_detail::lock held(list.busy);
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
    const cuda_detail::lock held(list.busy);
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
