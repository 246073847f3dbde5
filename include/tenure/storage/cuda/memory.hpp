// SPDX-License-Identifier: BSL-1.0
// Device memory from a pool. Law: freed memory is reused only after all work that may still use it, so correct programs need no waiting or
// synchronisation. Cost: in the steady state no memory is requested from the driver.
#pragma once

#include "stream.hpp"

namespace TENURE_NAMESPACE::cuda_detail {

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

/// Memory on the device, and the lanes of the threads whose work used it.
struct device_block : detail::block {
  detail::atomic<std::uint64_t> users{own_bit()};
};

/// The stream of a lane that only frees memory. It waits for other streams, so that nothing else has to wait. Null if CUDA gives no stream.
inline stream_t freeing_stream(lane& of) noexcept {
  if (const stream_t made = of.behind.load_acquire()) return made;
  stream_t made = nullptr;
  if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) != cudaSuccess) return nullptr;
  const stream_t before = of.behind.compare_exchange_acquire(nullptr, made);  // threads beyond 63 share a lane
  if (before == nullptr) return made;
  cudaStreamDestroy(made);
  return before;
}

/// Frees memory after all work that may use it, of the lanes `users`. Cost: one call without a lock if only this thread used the memory; otherwise an
/// event on the last stream of each other thread.
inline void free(void* memory, std::uint64_t users) noexcept {
  const stream_t here = running_stream();
  const std::uint64_t own = own_bit();
  // An error here comes from earlier work. This function cannot throw; the next call that can throw reports the error.
  if (users == own && own >> lane::shared == 0) [[likely]] return static_cast<void>(cudaFreeAsync(memory, here));
  stream_t behind = nullptr;
  cudaEvent_t reached = nullptr;
  bool ordered = true;
  const auto wait_for = [&](stream_t s) {
    ordered = ordered && cudaEventRecord(reached, s) == cudaSuccess && cudaStreamWaitEvent(behind, reached, 0) == cudaSuccess;
  };
  const auto put_behind = [&](stream_t s) {
    if (s == here || !ordered) return;
    if (reached == nullptr) {
      behind = freeing_stream(lanes[__builtin_ctzll(own)]);
      ordered = behind != nullptr && cudaEventCreateWithFlags(&reached, cudaEventDisableTiming) == cudaSuccess;
      wait_for(here);
    }
    wait_for(s);
  };
  put_behind(stream_t{});  // the default stream, for threads that have ended
  for (; users != 0; users &= users - 1) {
    lane& l = lanes[__builtin_ctzll(users)];
    const lock held(l.busy);
    for (const lane::thread* t = l.first; t != nullptr; t = t->next) put_behind(t->last);
  }
  if (!ordered) {
    cudaDeviceSynchronize();
    static_cast<void>(cudaGetLastError());  // else the next launch would report this failure as its own
  }
  cudaFreeAsync(memory, ordered && reached != nullptr ? behind : here);
  if (reached != nullptr) cudaEventDestroy(reached);
}

/// Returns a new block of at least `bytes` bytes of device memory. The content is unspecified, and it is padded as on the host.
/// While a graph is recorded, the graph keeps the memory, and the allocation itself is not recorded: an allocation inside a graph
/// would tie the graph to one address space.
inline detail::storage_handle allocate(std::size_t bytes) {
  constexpr std::size_t unit = memory_pool::alignment;
  if (bytes > memory_pool::largest) throw std::bad_alloc();
  auto* const b = ::new (memory_pool::take(sizeof(device_block))) device_block;
  b->bytes = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  b->release = [](detail::block* dead) noexcept {
    auto* const self = static_cast<device_block*>(dead);
    if (self->payload != nullptr) cuda_detail::free(self->payload, self->lent.load() ? every_lane() : self->users.load());
    self->~device_block();
    memory_pool::give(self, sizeof(device_block));
  };
  b->used = [](detail::block* of) noexcept {
    auto& users = static_cast<device_block*>(of)->users;
    if ((users.load() & own_bit()) == 0) [[unlikely]] users.fetch_or(own_bit());
  };
  detail::storage_handle made(b);
  if (innermost != nullptr && innermost->recorded != nullptr) innermost->recorded->push_back(made);
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, b->bytes, memory_pool(), running_stream()), "cudaMallocAsync");
  b->payload = memory;
  return made;
}

/// Scratch memory that calls on one stream share, because they run one after the other. It is kept from call to call, and grows. Each stream
/// has its own, and so has each recorded graph, which keeps it alive.
class stream_memory {
 public:
  void* of_current_stream(std::size_t bytes) {
    const auto* const recorded = innermost == nullptr ? nullptr : innermost->recorded;
    bool is_ours = memory_ && bytes_ >= bytes && stream_ == current_stream() && is_recorded_ == (recorded != nullptr);
    if (recorded != nullptr) {  // an earlier graph may have been recorded on the same stream; its memory is not ours
      bool is_kept = false;
      for (const detail::storage_handle& m : *recorded) is_kept = is_kept || (memory_ && m.data() == memory_.data());
      is_ours = is_ours && is_kept;
    }
    if (!is_ours) {
      memory_ = {};
      memory_ = allocate(bytes);
      bytes_ = bytes;
      stream_ = current_stream();
      is_recorded_ = recorded != nullptr;
    }
    return memory_.data();
  }

 private:
  detail::storage_handle memory_;
  std::size_t bytes_ = 0;
  stream_t stream_ = nullptr;
  bool is_recorded_ = false;
};

}  // namespace tenure::cuda_detail
