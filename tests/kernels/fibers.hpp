// SPDX-License-Identifier: BSL-1.0
// A block whose threads are threads of control, as on a GPU: each has a stack of its own and runs until it waits for others. Of those
// that need not wait the one of the highest rank runs, and ranks are random: so some are as far ahead of others as barriers let them,
// results are wrong where one is missing, and threads that wait for ones that never come are told.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tenure/kernels/block.hpp>

#include "../fuzz/dice.hpp"

namespace host {

class fibers {
 public:
  fibers(int count, std::uint64_t seed) : random_(seed), fiber_(static_cast<std::size_t>(count)), arrived_((static_cast<std::size_t>(count) + tenure::kernels::warp - 1) / tenure::kernels::warp + 1) {
    for (fiber& f : fiber_) f.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  }

  /// body(i) for each thread i.
  void run(std::function<void(int)> body) {
    body_ = std::move(body);
    ended_ = 0;
    for (std::vector<int>& waiting : arrived_) waiting.clear();
    for (std::size_t i = 0; i < fiber_.size(); ++i) {
      ucontext_t& c = fiber_[i].context;
      getcontext(&c);
      c.uc_stack.ss_sp = fiber_[i].stack.get();
      c.uc_stack.ss_size = stack_bytes;
      c.uc_link = &scheduler_;
      fiber_[i].stack[0] = untouched;
      makecontext(&c, &enter, 0);
      fiber_[i].rank = random_.next();
      ready_.push_back(static_cast<int>(i));
    }
    const auto is_below = [&](int a, int b) { return fiber_[static_cast<std::size_t>(a)].rank < fiber_[static_cast<std::size_t>(b)].rank; };
    running() = this;
    while (!ready_.empty()) {
      std::swap(*std::max_element(ready_.begin(), ready_.end(), is_below), ready_.back());
      current_ = ready_.back();
      ready_.pop_back();
      swapcontext(&scheduler_, &fiber_[static_cast<std::size_t>(current_)].context);
    }
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    for (const fiber& f : fiber_)
      if (f.stack[0] != untouched) throw std::logic_error("a thread's stack is too small");
    if (ended_ < static_cast<int>(fiber_.size())) throw std::logic_error("threads wait at a barrier that others passed by");
  }

  /// Waits for all threads, or for those of the warp of the thread that calls.
  void wait(bool for_all) {
    const auto warp = static_cast<std::size_t>(current_ / tenure::kernels::warp);
    std::vector<int>& waiting = for_all ? arrived_.back() : arrived_[warp];
    const std::size_t all = fiber_.size(), before = warp * tenure::kernels::warp, of_warp = all - before < tenure::kernels::warp ? all - before : tenure::kernels::warp;
    waiting.push_back(current_);
    if (waiting.size() == (for_all ? all : of_warp)) {
      ready_.insert(ready_.end(), waiting.begin(), waiting.end());
      waiting.clear();
    }
    swapcontext(&fiber_[static_cast<std::size_t>(current_)].context, &scheduler_);
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{128} << 10;
  static constexpr char untouched = 0x5A;  // at the far end of a stack
  struct fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    std::uint64_t rank;
  };
  static fibers*& running() {
    static thread_local fibers* here = nullptr;
    return here;
  }
  static void enter() {
    fibers& all = *running();
    try {
      all.body_(all.current_);
    } catch (...) {
      all.thrown_ = std::current_exception();
    }
    ++all.ended_;
  }

  fuzz::dice random_;
  std::vector<fiber> fiber_;
  std::vector<std::vector<int>> arrived_;  // at the barrier of each warp, and last at that of the block
  std::vector<int> ready_;
  std::function<void(int)> body_;
  ucontext_t scheduler_{};
  std::exception_ptr thrown_;
  int current_ = 0, ended_ = 0;
};

/// One thread and its block, as device_block of launch.cuh is.
class fiber_block {
 public:
  /// What the threads of a block have in common. Shared memory starts as garbage.
  struct common {
    common(fibers& t, std::size_t shared_bytes) : threads(t), shared(shared_bytes / sizeof(unit) + 1) { std::memset(shared.data(), 0xA5, shared.size() * sizeof(unit)); }
    struct alignas(16) unit { unsigned char bytes[16]; };
    fibers& threads;
    std::vector<unit> shared;
    unit warp_results[tenure::kernels::warp / 2] = {};
    unit exchanged[tenure::kernels::most_threads] = {};
    bool is_last = false;
  };
  int index, thread;

  fiber_block(common& c, int block_index, int thread_index) : index(block_index), thread(thread_index), common_(c) {}

  void sync() { common_.threads.wait(true); }
  void sync_warp() { common_.threads.wait(false); }
  template <class T, class Combine>
  T exchange(int distance, T mine, Combine combine) {
    std::memcpy(common_.exchanged[thread].bytes, &mine, sizeof(T));
    sync_warp();
    T theirs;
    std::memcpy(&theirs, common_.exchanged[thread ^ distance].bytes, sizeof(T));
    sync_warp();
    return (thread & distance) == 0 ? combine(mine, theirs) : combine(theirs, mine);
  }
  template <class T>
  T* warp_results() { return reinterpret_cast<T*>(common_.warp_results); }
  void* shared() { return common_.shared.data(); }
  bool arrives_last(unsigned* arrived, int blocks) {
    if (thread == 0) common_.is_last = ++*arrived == static_cast<unsigned>(blocks);
    sync();
    return common_.is_last;
  }
  template <class T>
  static T published(const T* at) { return *at; }

 private:
  common& common_;
};

}  // namespace host
