// SPDX-License-Identifier: BSL-1.0
// The streams of a thread, and the lane of the thread. A block remembers the lanes whose work used its memory.
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/atomic.hpp"
#include "../../core/not_copied.hpp"
#include "../block.hpp"

namespace TENURE_NAMESPACE::cuda_detail {

using stream_t = cudaStream_t;

/// A mutex. It is not std::mutex, because that header takes nvcc 0.2 s.
class mutex : detail::not_copied {
 public:

 private:
  friend class lock;
  pthread_mutex_t handle_ = PTHREAD_MUTEX_INITIALIZER;
};
class lock : detail::not_copied {
 public:
  explicit lock(mutex& m) : of_(m) { pthread_mutex_lock(&of_.handle_); }
  ~lock() { pthread_mutex_unlock(&of_.handle_); }

 private:
  mutex& of_;
};

/// A stream that a cuda_stream object has opened, in the list of the nested scopes of its thread. After the last one comes the default
/// stream, which all threads share.
struct scope {
  stream_t stream;
  scope* outer;
  std::vector<detail::storage_handle>* recorded = nullptr;  // while a graph is recorded: the memory that the graph uses, else null
};
inline thread_local constinit scope* innermost = nullptr;

/// The stream on which the calls of this thread run: the stream of the innermost cuda_stream, else CUDA's default stream.
inline stream_t current_stream() { return innermost == nullptr ? stream_t{} : innermost->stream; }
/// current_stream(), or the next outer stream while a graph is recorded on current_stream().
inline stream_t running_stream() {
  const scope* s = innermost;
  if (s != nullptr && s->recorded != nullptr) s = s->outer;
  return s == nullptr ? stream_t{} : s->stream;
}

/// One of 64 lanes in which threads give work to the device. A block has one bit for each lane whose work used it. A thread has its own lane; when
/// the thread ends, another one can take the lane. All threads beyond 63 share the last lane. Law: what a thread gives to its last stream comes
/// behind all that it gave before, and behind what earlier threads of its lane gave.
struct lane {
  static constexpr int count = 64, shared = count - 1;
  struct thread : private detail::not_copied {
    thread();
    ~thread();
    int in;
    stream_t last = nullptr;
    thread* next = nullptr;
  };

  mutex busy;  // guards the list of threads, and is never held while the device works
  thread* first = nullptr;
  detail::atomic<stream_t> behind{nullptr};  // a stream that only frees memory, see memory.hpp
};
// They are never destroyed, because static tensors free their memory after main.
inline constinit lane lanes[lane::count];
inline constinit detail::atomic<std::uint64_t> lanes_taken{0};
inline thread_local constinit lane::thread* this_thread = nullptr;  // null before its first work and after its end
inline thread_local constinit std::uint64_t bit_of_thread = 0;

inline lane::thread::thread() {
  for (std::uint64_t taken = lanes_taken.load();;) {
    in = ~taken << 1 == 0 ? lane::shared : __builtin_ctzll(~taken);
    if (in == lane::shared) break;
    const std::uint64_t before = lanes_taken.compare_exchange_acquire(taken, taken | std::uint64_t{1} << in);
    if (before == taken) break;
    taken = before;
  }
  bit_of_thread = std::uint64_t{1} << in;
  this_thread = this;
  const lock held(lanes[in].busy);
  next = std::exchange(lanes[in].first, this);
}
inline lane::thread::~thread() {
  {
    const lock held(lanes[in].busy);
    thread** at = &lanes[in].first;
    while (*at != this) at = &(*at)->next;
    *at = next;
  }
  this_thread = nullptr;
  bit_of_thread = std::uint64_t{1} << lane::shared;
  if (in != lane::shared) lanes_taken.fetch_add(std::uint64_t{0} - (std::uint64_t{1} << in));
}
[[gnu::cold, gnu::noinline]] inline void take_lane() {
  static thread_local lane::thread here;
  static_cast<void>(here);
}
/// The bit of this thread's lane.
inline std::uint64_t own_bit() {
  if (bit_of_thread == 0) [[unlikely]] take_lane();
  return bit_of_thread;
}
/// The bits of all lanes that have a thread, for memory whose address is known outside of Tenure.
inline std::uint64_t every_lane() { return lanes_taken.load() | own_bit() | std::uint64_t{1} << lane::shared; }
inline void set_last_stream() {
  if (this_thread == nullptr) return;
  const lock held(lanes[this_thread->in].busy);
  this_thread->last = running_stream();
}

}  // namespace tenure::cuda_detail
