// SPDX-License-Identifier: BSL-1.0
// Blocks on the host, one thread after the other: what tests run instead of a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include <tenure/kernels/block.hpp>

namespace tenure::kernels {

template <class Thread>
class host_block {
 public:
  int index = 0;

  host_block(int threads, std::size_t shared_bytes) : states_(static_cast<std::size_t>(threads)), shared_(shared_bytes / 16 + 1) {}

  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].thread = static_cast<int>(i);
      f(states_[i]);
    }
  }
  void sync() {}
  void sync_warp() {}
  template <class T, class Get, class Combine>
  void exchange(int distance, Get get, Combine combine) {
    std::vector<T> before;
    before.reserve(states_.size());
    for (Thread& t : states_) before.push_back(get(t));
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const std::size_t other = i ^ static_cast<std::size_t>(distance);
      const T theirs = other < states_.size() ? before[other] : before[i];
      get(states_[i]) = i < other ? combine(static_cast<T>(before[i]), theirs) : combine(theirs, static_cast<T>(before[i]));
    }
  }
  template <class T>
  T* warp_results() { return reinterpret_cast<T*>(warp_results_); }
  void* shared() { return shared_.data(); }
  bool arrives_last(unsigned* arrived, int blocks) { return ++*arrived == static_cast<unsigned>(blocks); }
  template <class T>
  static T published(const T* at) { return *at; }

 private:
  struct alignas(16) unit { unsigned char bytes[16]; };
  std::vector<Thread> states_;
  std::vector<unit> shared_;
  alignas(16) unsigned char warp_results_[warp * 8] = {};
};

}  // namespace tenure::kernels
