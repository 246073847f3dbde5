// SPDX-License-Identifier: BSL-1.0
// The CUDA runtime: errors as exceptions, the stream on which the calls of this thread run, device memory from a pool, transfers
// and CUDA graphs. Law: a call that throws has changed nothing that is visible. Freed memory is reused only after all work that
// may still use it, so correct programs need no waiting or synchronisation.
// Cost: in the steady state no memory is requested from the driver; a transfer is copied once on the host, through pinned memory.
// All memory is on the device that was current in the process at the first allocation.
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <cstring>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "block.hpp"

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

// ---- memory --------------------------------------------------------------------------------------------------------------

inline int device_of_process() {
  static const int id = [] {
    int current = 0;
    check(cudaGetDevice(&current), "cudaGetDevice");
    return current;
  }();
  return id;
}

/// The memory pool of the process. It keeps freed memory, and the driver reuses that memory in stream order.
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

/// Frees memory after all work that may use it: after the work of this thread, and, if other threads have given work to other
/// streams, after that work too, because they may have used the memory before they dropped their reference.
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
  // An error here comes from earlier work. This function cannot throw; the next call that can throw reports the error.
  if (!others) return static_cast<void>(cudaFreeAsync(memory, here));
  // A stream only for freeing. It waits for the others, so no thread and no other stream has to wait.
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

/// Returns a new block of at least `bytes` bytes of device memory. The content is unspecified, and it is padded as on the host.
/// While a graph is recorded, the graph keeps the memory, and the allocation itself is not recorded: an allocation inside a graph
/// would tie the graph to one address space.
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

/// Scratch memory that calls on one stream share, because they run one after the other. It is kept from call to call. Each stream
/// has its own, and so has each recorded graph, which keeps it alive.
class stream_memory {
 public:
  void* of_current_stream(std::size_t bytes) {
    const auto* const recorded = innermost == nullptr ? nullptr : innermost->recorded;
    bool is_ours = memory_ && stream_ == current_stream() && is_recorded_ == (recorded != nullptr);
    if (recorded != nullptr) {  // an earlier graph may have been recorded on the same stream; its memory is not ours
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

/// Pinned memory for transfers, in two halves that are used in turn: the host copies into or out of one half while the device
/// works on the other. The memory on the host side may be of any kind, and may be changed as soon as a transfer returns. Cost: an
/// upload waits only if it needs a half that the device has not read yet, so thousands of small uploads do not wait.
class staging {
 public:
  static constexpr std::size_t half_bytes = std::size_t{4} << 20;

  /// The instance of the process. It is never destroyed, because the driver may be shut down before the end of the process.
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
    if (h->used + padded > half_bytes || (h->used > 0 && h->stream != stream)) {  // one event records the progress of one stream only
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
    } catch (const cuda_error&) {  // without the event it is unknown when this half is free again, so wait here
      cudaStreamSynchronize(stream);
      throw;
    }
  }

  mutex busy_;
  half half_[2];
  int turn_ = 0;
};

/// Pinned memory of this thread, through which the host reads a few bytes that it must know before it gives more work to the device: the
/// condition of a loop, or an index that a check has refused. Unlike staging it locks nothing while it waits.
class answer {
 public:
  static constexpr std::size_t most_bytes = 64;

  static answer& of_thread() {
    static thread_local answer made;
    return made;
  }
  /// Copies at most most_bytes from the device, after all earlier work of the current stream. It waits for this work.
  void read(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(pinned_, from, bytes, cudaMemcpyDeviceToHost, current_stream()), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(current_stream()), "cudaStreamSynchronize");
    std::memcpy(to, pinned_, bytes);
  }

  answer(const answer&) = delete;
  answer& operator=(const answer&) = delete;
  ~answer() { cudaFreeHost(pinned_); }

 private:
  answer() { check(cudaMallocHost(&pinned_, most_bytes), "cudaMallocHost"); }

  void* pinned_ = nullptr;
};

// ---- graphs --------------------------------------------------------------------------------------------------------------

/// A CUDA graph: a recorded sequence of launches that is launched again as a whole. Law: launch() does the work that f() in
/// record(f) gave to the current stream, on the same addresses. Cost: launch() is one call of the driver; record() costs the call
/// of f() and, if the new graph has another structure than the last, its instantiation.
class graph {
 public:
  graph() = default;
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  /// Records the work of f() without running it. If f() throws, the exception is passed on and the old recording stays. If the
  /// driver does not accept the graph, it throws cuda_error and the object is empty.
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
    memory_.swap(memory);  // the memory of the last recording is freed here, after its launches in stream order
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
    // Relaxed mode, because allocations on other streams are allowed during the recording.
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
