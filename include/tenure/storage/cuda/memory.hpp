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
  static constinit stream_t behind = nullptr;
  cudaEvent_t reached = nullptr;
  bool ordered = (behind != nullptr || cudaStreamCreateWithFlags(&behind, cudaStreamNonBlocking) == cudaSuccess) &&
                 cudaEventCreateWithFlags(&reached, cudaEventDisableTiming) == cudaSuccess;
  const auto put_behind = [&](stream_t s) {
    ordered = ordered && cudaEventRecord(reached, s) == cudaSuccess && cudaStreamWaitEvent(behind, reached, 0) == cudaSuccess;
  };
  put_behind(stream_t{});
  for (const scope* s = list.first; s != nullptr; s = s->next_alive) put_behind(s->stream);
  if (!ordered) {
    cudaDeviceSynchronize();
    static_cast<void>(cudaGetLastError());  // or the next launch would take the failure for its own
  }
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

}  // namespace tenure::cuda_detail
