// SPDX-License-Identifier: BSL-1.0
// Transfers between the host and the device, through pinned memory. Cost: a transfer is copied once on the host.
#pragma once

#include <cstring>
#include <utility>

#include "stream.hpp"

namespace TENURE_NAMESPACE::cuda_detail {

/// Pinned memory for the transfers of one thread on one stream, in two halves that are used in turn: the host copies into or out of one half
/// while the device works on the other. The memory on the host side may be of any kind, and may be changed as soon as a transfer returns.
/// Cost: an upload waits only if it needs a half that the device has not read yet, so thousands of small uploads do not wait, and no thread
/// waits for another.
class staging {
 public:
  static constexpr std::size_t half_bytes = std::size_t{4} << 20;
  /// The most that a thread has. If it uses more streams, one is reused for another stream, and waits for its old stream.
  static constexpr int max_per_thread = 2;

  /// The staging of this thread for its current stream.
  static staging& of_current_stream() {
    static thread_local kept mine;
    return mine.of(current_stream());
  }

  void upload(void* to, const void* from, std::size_t bytes) {
    const stream_t stream = current_stream();
    for (std::size_t at = 0; at < bytes; at += half_bytes) {
      const std::size_t n = piece(bytes, at);
      char* const pinned = reserve(n, stream);
      std::memcpy(pinned, static_cast<const char*>(from) + at, n);
      start(static_cast<char*>(to) + at, pinned, n, cudaMemcpyHostToDevice, stream);
    }
  }

  void download(void* to, const void* from, std::size_t bytes) {
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

  /// The stagings of a thread, the last used one first. When the thread ends, other threads take them over, with the transfers that are not done yet.
  /// They are never destroyed, because the driver may be shut down before the end of the process.
  struct kept : private detail::not_copied {
    ~kept() {
      for (staging* const s : mine)
        if (s != nullptr) s->hand_back();
    }
    staging& of(stream_t stream) {
      int i = 0;
      while (i + 1 < max_per_thread && mine[i] != nullptr && mine[i]->half_[mine[i]->turn_].stream != stream) ++i;
      if (mine[i] == nullptr) mine[i] = taken();
      for (; i > 0; --i) std::swap(mine[i], mine[i - 1]);
      return *mine[0];
    }
    staging* mine[max_per_thread] = {};
  };
  struct idle_of_process {
    mutex busy;
    staging* first = nullptr;
  };
  static idle_of_process& idle() {
    static auto& list = *new idle_of_process;
    return list;
  }
  static staging* taken() {
    {
      idle_of_process& list = idle();
      const lock held(list.busy);
      if (list.first != nullptr) return std::exchange(list.first, list.first->next_idle_);
    }
    return new staging;
  }
  void hand_back() {
    // A later stream may get the address of this stream. So both halves count as full, and the next user waits for them.
    for (half& h : half_) h.used = half_bytes;
    idle_of_process& list = idle();
    const lock held(list.busy);
    next_idle_ = std::exchange(list.first, this);
  }

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

  half half_[2];
  int turn_ = 0;
  staging* next_idle_ = nullptr;
};

/// Pinned memory of this thread, through which the host reads a few bytes that it must know before it gives more work to the device: the
/// condition of a loop, or an index that a check has refused.
class answer : detail::not_copied {
 public:
  static constexpr std::size_t max_bytes = 64;

  static answer& of_thread() {
    static thread_local answer made;
    return made;
  }
  /// Copies at most max_bytes from the device, after all earlier work of the current stream. It waits for this work.
  void read(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(pinned_, from, bytes, cudaMemcpyDeviceToHost, current_stream()), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(current_stream()), "cudaStreamSynchronize");
    std::memcpy(to, pinned_, bytes);
  }

  ~answer() { cudaFreeHost(pinned_); }

 private:
  answer() { check(cudaMallocHost(&pinned_, max_bytes), "cudaMallocHost"); }

  void* pinned_ = nullptr;
};

}  // namespace tenure::cuda_detail
