// SPDX-License-Identifier: BSL-1.0
// Blocks whose threads are threads of control, as on a GPU: each has a stack of its own and runs until it waits for others. Several blocks
// are on the way at once. Of the threads that need not wait the one of the highest rank runs, and ranks are random: so some are as far ahead
// of others as barriers let them, results are wrong where one is missing, and threads that wait for ones that never come are told.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tenure/kernels/block.hpp>

#include "../fuzz/dice.hpp"

namespace host {

class fibers {
 public:
  /// `resident` blocks of `count` threads at once.
  fibers(int count, int resident, std::uint64_t seed)
      : random_(seed), count_(count), warps_((count + tenure::kernels::warp - 1) / tenure::kernels::warp), fiber_(static_cast<std::size_t>(count * resident)),
        arrived_(static_cast<std::size_t>((warps_ + 1) * resident)), place_(static_cast<std::size_t>(resident)) {
    for (fiber& f : fiber_) f.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  }

  /// body(place, i) for each thread i of each block. Blocks begin in the given order, one after the other in each place: begins(place, block), ends(place).
  template <class Begins, class Ends>
  void run(const std::vector<int>& blocks, const Begins& begins, const Ends& ends, std::function<void(int, int)> body) {
    body_ = std::move(body);
    std::size_t next = 0;
    const auto fill = [&](int place) {
      if (next == blocks.size()) return;
      begins(place, blocks[next++]);
      start(place);
    };
    running() = this;
    for (int p = 0; p < static_cast<int>(place_.size()); ++p) fill(p);
    const auto is_below = [&](int a, int b) { return fiber_[static_cast<std::size_t>(a)].rank < fiber_[static_cast<std::size_t>(b)].rank; };
    while (!ready_.empty()) {
      std::swap(*std::max_element(ready_.begin(), ready_.end(), is_below), ready_.back());
      current_ = ready_.back();
      ready_.pop_back();
      swapcontext(&scheduler_, &fiber_[static_cast<std::size_t>(current_)].context);
      if (thrown_) break;
      const int place = current_ / count_;
      if (place_[static_cast<std::size_t>(place)] == count_) {
        place_[static_cast<std::size_t>(place)] = 0;
        for (int i = place * count_; i < (place + 1) * count_; ++i)
          if (fiber_[static_cast<std::size_t>(i)].stack[0] != untouched) throw std::logic_error("a thread's stack is too small");
        ends(place);
        fill(place);
      }
    }
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    for (const int ended : place_)
      if (ended > 0) throw std::logic_error("threads wait at a barrier that others passed by");
    for (const std::vector<int>& waiting : arrived_)
      if (!waiting.empty()) throw std::logic_error("threads wait at a barrier that others passed by");
  }

  /// Waits for all threads of the block, or for those of the warp of the thread that calls.
  void wait(bool for_all) {
    constexpr int warp_size = tenure::kernels::warp;
    const int place = current_ / count_, warp = current_ % count_ / warp_size, of_warp = std::min(count_ - warp * warp_size, int{warp_size});
    std::vector<int>& waiting = arrived_[static_cast<std::size_t>(place * (warps_ + 1) + (for_all ? warps_ : warp))];
    waiting.push_back(current_);
    if (static_cast<int>(waiting.size()) == (for_all ? count_ : of_warp)) {
      ready_.insert(ready_.end(), waiting.begin(), waiting.end());
      waiting.clear();
    }
    swapcontext(&fiber_[static_cast<std::size_t>(current_)].context, &scheduler_);
  }
  /// Lets threads of other blocks run in between.
  void yield() {
    ready_.push_back(current_);
    fiber_[static_cast<std::size_t>(current_)].rank = random_.next();
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
    const int me = all.current_;
    try {
      all.body_(me / all.count_, me % all.count_);
    } catch (...) {
      all.thrown_ = std::current_exception();
    }
    ++all.place_[static_cast<std::size_t>(me / all.count_)];
  }
  void start(int place) {
    for (int i = place * count_; i < (place + 1) * count_; ++i) {
      fiber& f = fiber_[static_cast<std::size_t>(i)];
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.get();
      f.context.uc_stack.ss_size = stack_bytes;
      f.context.uc_link = &scheduler_;
      f.stack[0] = untouched;
      makecontext(&f.context, &enter, 0);
      f.rank = random_.next();
      ready_.push_back(i);
    }
  }

  fuzz::dice random_;
  int count_, warps_;
  std::vector<fiber> fiber_;               // those of a place are neighbours
  std::vector<std::vector<int>> arrived_;  // of each place, at the barrier of each warp, and last at that of the block
  std::vector<int> place_;                 // how many threads of its block have ended
  std::vector<int> ready_;
  std::function<void(int, int)> body_;
  ucontext_t scheduler_{};
  std::exception_ptr thrown_;
  int current_ = 0;
};

/// One thread and its block, as device_block of launch.cuh is.
class fiber_block {
 public:
  /// What the threads of a block have in common. Shared memory starts as garbage, and more of it follows what was asked for.
  struct common {
    common(fibers& t, std::size_t shared_bytes) : threads(t), asked_for(shared_bytes), shared(shared_bytes / sizeof(unit) + 17) {
      std::memset(shared.data(), 0xA5, shared.size() * sizeof(unit));
    }
    /// Throws where the block has written behind what it asked for.
    void check() const {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(shared.data());
      for (std::size_t i = asked_for; i < shared.size() * sizeof(unit); ++i)
        if (bytes[i] != 0xA5) throw std::logic_error("a block wrote byte " + std::to_string(i) + " of " + std::to_string(asked_for) + " bytes of shared memory");
    }
    struct alignas(16) unit { unsigned char bytes[16]; };
    fibers& threads;
    std::size_t asked_for;
    std::vector<unit> shared;
    unit warp_results[tenure::kernels::warp / 2] = {};
    unit exchanged[tenure::kernels::max_threads] = {};
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
    common_.threads.yield();
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
