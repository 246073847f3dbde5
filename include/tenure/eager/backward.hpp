// SPDX-License-Identifier: BSL-1.0
// backward(): accumulators collect cotangents. An accumulator passes its cotangent on to the accumulators of its operands, the newest one first.
// Law: a backward() that throws changes nothing. Saved values are checked before the first cotangent is computed. Gradients are added,
// and saved values are freed, only after the last cotangent was computed.
// Cost: each history is visited three times, and taking the newest of n waiting accumulators costs O(log n). The queue and the list are linked
// through the accumulators and do not allocate. The cotangent of a leaf needs separate memory until the end. If the gradient of the leaf is zero,
// the cotangent is written into the gradient instead.
#pragma once

#include <cstring>
#include <exception>
#include <utility>

#include <tenure/storage/saved.hpp>
#include <tenure/tensor/access.hpp>

namespace TENURE_NAMESPACE {

/// loss.backward(tn::retain_graph): saved values are kept, so that backward() can be called again.
inline constexpr bool retain_graph = true;

namespace detail {

/// Adds n elements of the given type.
inline void accumulate(dtype type, const storage_handle& to, const storage_handle& from, std::int64_t n) {
  visit_floating(type, [&]<class T>(element_tag<T>) {
    T* const t = static_cast<T*>(to.data());
    const T* const f = static_cast<const T*>(from.data());
    for (std::int64_t i = 0; i < n; ++i) t[i] += f[i];
  });
}

/// Adds `from` to `to`, on the device of the accumulator.
inline void accumulate(const gradient_accumulator& accumulator, const storage_handle& to, const storage_handle& from) {
  if (accumulator.device == nullptr) return accumulate(accumulator.type, to, from, count(accumulator.shape));
  const extents row = row_major(accumulator.shape);
  accumulator.device->add(accumulator.type, to.data(), row, from.data(), row, accumulator.shape);
}

inline std::size_t gradient_bytes(const gradient_accumulator& accumulator) {
  return checked_bytes(accumulator.shape, static_cast<std::size_t>(size_of(accumulator.type)));
}

/// Memory for a gradient, on the device of the accumulator.
inline storage_handle allocate_gradient(const gradient_accumulator& accumulator) {
  const std::size_t bytes = gradient_bytes(accumulator);
  return accumulator.device == nullptr ? allocate_storage(bytes) : accumulator.device->allocate(bytes);
}
inline void clear_gradient(const gradient_accumulator& accumulator, const storage_handle& memory) {
  if (accumulator.device == nullptr) std::memset(memory.data(), 0, memory.bytes());
  else accumulator.device->clear(memory.data(), memory.bytes());
}

/// A priority queue of accumulators, the newest first. It is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan, 1986) with its links in the
/// accumulators, so it does not allocate.
class newest_first {
 public:
  bool empty() const { return root_ == nullptr; }
  void push(gradient_accumulator* s) { root_ = merge(root_, s); }
  gradient_accumulator* pop() {
    gradient_accumulator* const s = root_;
    root_ = merge_siblings(std::exchange(s->child, nullptr));
    return s;
  }

 private:
  static gradient_accumulator* merge(gradient_accumulator* a, gradient_accumulator* b) {
    if (a == nullptr) return b;
    if (a->sequence < b->sequence) std::swap(a, b);
    b->next = a->child;
    a->child = b;
    return a;
  }
  // Merges pairs from left to right, then merges the results from right to left.
  static gradient_accumulator* merge_siblings(gradient_accumulator* rest) {
    gradient_accumulator* pairs = nullptr;
    while (rest != nullptr) {
      gradient_accumulator* pair = rest;
      gradient_accumulator* const second = std::exchange(pair->next, nullptr);
      rest = nullptr;
      if (second != nullptr) {
        rest = std::exchange(second->next, nullptr);
        pair = merge(pair, second);
      }
      pair->next = pairs;
      pairs = pair;
    }
    gradient_accumulator* all = nullptr;
    while (pairs != nullptr) {
      gradient_accumulator* const pair = pairs;
      pairs = std::exchange(pair->next, nullptr);
      all = merge(all, pair);
    }
    return all;
  }

  gradient_accumulator* root_ = nullptr;
};

/// The state of one backward(): a list of the accumulators that it holds. First come the nodes that the roots reach, newest first, and then the
/// leaves that get a cotangent. Only one backward() at a time holds an accumulator: the one that has set `held_by` from null. No other backward()
/// reads or writes the data of the accumulator meanwhile.
class backward_queue : not_copied {
 public:
  /// Undoes everything that was not committed.
  ~backward_queue() {
    while (!waiting_.empty()) undo(*accumulator_handle::adopt(waiting_.pop()));
    while (first_ != nullptr) undo(*take_first());
  }

  /// Adds a node to the list that check_all() will check. A leaf needs no check.
  void reach(const accumulator_handle& accumulator) {
    if (accumulator->is_node() && hold(*accumulator)) waiting_.push(accumulator_handle(accumulator).release());  // the queue holds a reference
  }
  /// Checks the nodes that reach() has added, also those that the checks add. Throws ownership_error if another backward() holds one of them.
  void check_all() {
    while (!waiting_.empty()) {
      gradient_accumulator* const newest = waiting_.pop();
      append(accumulator_handle::adopt(newest));
      newest->check(*this);
    }
  }

  /// Says that a cotangent for the accumulator arrives. Throws ownership_error if the accumulator is a leaf that another backward() holds.
  void push(const accumulator_handle& accumulator) {
    if (hold(*accumulator)) append(accumulator);
    accumulator->gets_cotangent = true;
  }
  /// Makes each node pass on its cotangent, newest first. By then all parts of this cotangent have arrived. The leaves follow and pass on nothing.
  void visit_all() {
    for (gradient_accumulator* s = first_; s != nullptr; s = s->next) {
      if (!s->gets_cotangent) continue;
      s->propagate(*this);
      if (!s->retains) s->arriving = {};
    }
  }
  /// Adds the cotangents to the gradients. From here on only an addition on a device can fail. Then commit() throws at the end, and the gradient of
  /// that leaf is unchanged.
  void commit(bool retain_graph) {
    std::exception_ptr refused;
    while (first_ != nullptr) {
      const accumulator_handle accumulator = take_first();
      if (accumulator->is_overwritten) accumulator->grad.bump();
      if (accumulator->arriving) add_to_gradient(*accumulator, refused);
      if (accumulator->gets_cotangent && !retain_graph) accumulator->release();
      let_go(*accumulator);
    }
    if (refused) [[unlikely]] std::rethrow_exception(refused);
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_busy() {
    throw ownership_error(message("backward") << "another backward() through the same tensors has not ended: one at a time over a leaf");
  }
  /// Takes the accumulator if no backward() holds it. Returns whether this call took it now. Throws if another backward() holds it.
  bool hold(gradient_accumulator& accumulator) const {
    const backward_queue* const holder = accumulator.held_by.compare_exchange_acquire(nullptr, this);
    if (holder != nullptr && holder != this) [[unlikely]] throw_busy();
    return holder == nullptr;
  }
  static void let_go(gradient_accumulator& accumulator) noexcept {
    accumulator.is_overwritten = false;
    accumulator.gets_cotangent = false;
    accumulator.held_by.store_release(nullptr);  // last: from here on another thread may hold it
  }
  void append(accumulator_handle accumulator) {
    gradient_accumulator* const s = accumulator.release();  // the list holds the reference
    s->next = nullptr;
    *last_ = s;
    last_ = &s->next;
  }
  accumulator_handle take_first() {
    gradient_accumulator* const s = first_;
    first_ = s->next;
    s->next = nullptr;
    return accumulator_handle::adopt(s);
  }
  static void add_to_gradient(gradient_accumulator& accumulator, std::exception_ptr& refused) noexcept {
    if (!accumulator.grad) {
      accumulator.grad = std::move(accumulator.arriving);
      return;
    }
    accumulator.grad.bump();
    accumulator.is_zeroed = false;
    try {
      accumulate(accumulator, accumulator.grad, accumulator.arriving);
    } catch (...) {  // only a device refuses
      refused = std::current_exception();
    }
    accumulator.arriving = {};
  }
  static void undo(gradient_accumulator& accumulator) noexcept {
    accumulator.arriving = {};
    if (accumulator.is_overwritten) {
      try {
        clear_gradient(accumulator, accumulator.grad);
      } catch (...) {
        accumulator.grad = {};  // the gradient is removed, because it may be partly written
      }
      accumulator.is_zeroed = true;
    }
    let_go(accumulator);
  }

  newest_first waiting_;
  gradient_accumulator* first_ = nullptr;
  gradient_accumulator** last_ = &first_;
};

/// The memory into which a cotangent for an accumulator is computed. For a leaf whose gradient is zero and has no other owner, it is this gradient.
/// Otherwise it is separate memory, and finish() moves it to the accumulator or adds it there.
struct accumulation {
  accumulator_handle accumulator;
  storage_handle temporary{};

  void* begin(backward_queue& queue) {
    queue.push(accumulator);  // first, because another thread may hold the accumulator
    if (overwrites()) return accumulator->grad.data();
    temporary = allocate_gradient(*accumulator);
    return temporary.data();
  }
  /// The sum of the cotangents so far, at first zero. Only a caller that adds to some of the elements uses this.
  void* so_far(backward_queue& queue) {
    queue.push(accumulator);
    if (!overwrites() && !slot()) {
      storage_handle zero = allocate_gradient(*accumulator);
      clear_gradient(*accumulator, zero);
      slot() = std::move(zero);
    }
    return slot().data();
  }
  void finish(backward_queue& queue) {
    queue.push(accumulator);
    if (temporary) {
      if (!slot()) slot() = std::move(temporary);
      else accumulate(*accumulator, slot(), temporary);
      temporary = {};
    }
  }

 private:
  storage_handle& slot() { return accumulator->is_overwritten ? accumulator->grad : accumulator->arriving; }
  // Only the first cotangent of a backward() can overwrite the gradient.
  bool overwrites() {
    if (accumulator->is_node() || accumulator->arriving || !accumulator->grad_is_zero() || accumulator->grad.is_shared() || accumulator->grad.is_exported()) return false;
    accumulator->is_zeroed = false;
    accumulator->is_overwritten = true;  // commit() raises the version when it keeps the value
    return true;
  }
};

/// Checks all accumulators that reach_roots() reaches. Then runs start() and all nodes that get a cotangent, newest first.
void run_backward(bool retain_graph, auto reach_roots, auto start) {
  backward_queue queue;
  reach_roots(queue);
  queue.check_all();
  start(queue);
  queue.visit_all();
  queue.commit(retain_graph);
}

}  // namespace detail
}  // namespace tenure
