// SPDX-License-Identifier: BSL-1.0
// Allocations that fail: every one that a call makes in turn, the library's and the standard library's. Law: the call then
// throws std::bad_alloc, and each tensor is as it was: values, versions, gradients, what graphs have saved, who holds its
// memory. Made again, the call gives what it gives where nothing fails.
#pragma once

#define TENURE_POOL 0  // every allocation reaches the system

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

/// How many allocations still succeed, of all threads; negative: all.
inline std::atomic<int> allocations_left = -1;

inline bool allocation_fails() {
  int left = allocations_left;
  while (left > 0 && !allocations_left.compare_exchange_weak(left, left - 1)) {}
  return left == 0 || left == 1;
}

/// Everything that can be seen of a tensor, of several, or of a model.
class snapshot {
 public:
  template <class... X>
  explicit snapshot(const X&... x) { (add(x), ...); }

  friend bool operator==(const snapshot& a, const snapshot& b) { return a.seen_ == b.seen_; }

  /// The first few things that differ, and how many do; empty: none.
  friend std::string difference(const snapshot& before, const snapshot& after) {
    if (before == after) return "";
    if (before.seen_.size() != after.seen_.size()) return std::to_string(before.seen_.size()) + " things were seen, now " + std::to_string(after.seen_.size());
    std::string text;
    int n = 0;
    for (std::size_t i = 0; i < before.seen_.size(); ++i)
      if (const auto &b = before.seen_[i], &a = after.seen_[i]; b.number != a.number && ++n <= 3)
        text += "tensor " + std::to_string(b.tensor) + ": " + b.what + " was " + std::to_string(b.number) + ", is " + std::to_string(a.number) + "; ";
    return text + std::to_string(n) + " things differ";
  }

 private:
  template <class X>
  void add(const X& x) {
    tn::detail::for_each_leaf(x, [&](const auto& leaf) { add_leaf(leaf); });
  }
  template <class X>
  void add_leaf(const X& x) {
    ++tensors_;
    if constexpr (tn::scalar<X>) {
      see("the number", x);
    } else {
      using door = tn::detail::tensor_access;
      const auto& storage = door::storage(x);
      see("whether it has memory", static_cast<bool>(storage));
      if (!storage) return;
      add_storage(storage);
      add_values(x);
      if constexpr (tn::requires_grad_v<X>) {
        const tn::detail::gradient_accumulator& accumulator = *door::accumulator(x);
        for (const bool b : {accumulator.retains, accumulator.is_zeroed, accumulator.grad_is_zero(), accumulator.is_superseded, accumulator.held_by.load() != nullptr, accumulator.gets_cotangent, accumulator.is_overwritten, static_cast<bool>(accumulator.arriving)})
          see("a flag of its gradient", b);
        see("whether it has a gradient", static_cast<bool>(accumulator.grad));
        if (accumulator.grad) {
          add_storage(accumulator.grad);
          add_values(tn::detail::tensor_access::make<tn::tensor<tn::element_t<X>, tn::shape_of_t<X>, tn::ownership::detached>>(
              accumulator.grad, static_cast<tn::element_t<X>*>(accumulator.grad.data()), x.extents(), tn::row_major(x.extents())));
        }
      }
    }
  }
  void add_storage(const tn::detail::storage_handle& storage) {
    see("references", storage.get()->references.load());
    see("version", storage.version());
    see("saved", storage.get()->saved.load());
  }
  template <class X>
  void add_values(const X& x) {
    const auto copy = x.template new_tensor<double>(x.detach());
    for (std::int64_t i = 0; i < copy.size(); ++i) see("an element", copy.data()[i]);
  }

  template <class N>
  void see(const char* what, N number) { seen_.push_back({tensors_, what, static_cast<double>(number)}); }

  struct thing {
    int tensor;
    const char* what;
    double number;
    friend bool operator==(const thing& a, const thing& b) { return a.number == b.number; }
  };
  std::vector<thing> seen_;
  int tensors_ = -1;
};

/// At its end, also by an exception, a state hands its moments back to the world of a test.
template <class Moments, class State>
struct hand_back {
  Moments& to;
  State& from;
  hand_back(Moments& moments, State& state) : to(moments), from(state) {}
  hand_back(const hand_back&) = delete;
  hand_back& operator=(const hand_back&) = delete;
  ~hand_back() { to = std::move(from.moments); }
};

/// Lets each allocation of call(world) fail, in a world that make() makes anew; returns how many there are.
template <class Make, class Call>
int check_failures(Make make, Call call) {
  constexpr bool gives = !std::is_void_v<decltype(call(std::declval<decltype(make())&>()))>;
  const auto outcome = [&](auto& world) {
    if constexpr (gives) {
      const auto result = call(world);
      return std::tuple(snapshot(world), snapshot(result));
    } else {
      call(world);
      return std::tuple(snapshot(world));
    }
  };
  auto never_failed = make();
  const auto expected = outcome(never_failed);
  for (int k = 0;; ++k) {
    INFO("after " << k << " allocations");
    auto world = make();
    const snapshot before(world);
    bool failed = false;
    allocations_left = k + 1;
    try {
      if constexpr (gives) static_cast<void>(call(world));
      else call(world);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_left = -1;
    if (!failed) return k;
    REQUIRE(difference(before, snapshot(world)) == "");
    REQUIRE(outcome(world) == expected);
  }
}
