// SPDX-License-Identifier: BSL-1.0
// backward(): cotangents are collected in sinks. A sink passes its cotangent on to the sinks of its operands, and the newest sink is first.
// Law: a backward() that throws changes nothing. Saved values are checked before the first cotangent is computed. Gradients are added,
// and saved values are freed, only after the last cotangent was computed.
// Cost: each history is visited three times, and taking the newest of n waiting sinks costs O(log n). Queue and list are linked through
// the sinks and do not allocate. The cotangent of a leaf needs memory of its own until the end, except where the gradient of the leaf is
// zero: then it is written there directly.
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

/// The same, on the device of the sink.
inline void accumulate(const gradient_sink& sink, const storage_handle& to, const storage_handle& from) {
  if (sink.device == nullptr) return accumulate(sink.type, to, from, count(sink.shape));
  const extents row = row_major(sink.shape);
  sink.device->add(sink.type, to.data(), row, from.data(), row, sink.shape);
}

inline std::size_t gradient_bytes(const gradient_sink& sink) {
  return checked_bytes(sink.shape, static_cast<std::size_t>(size_of(sink.type)));
}

/// Memory for a gradient, on the device of the sink.
inline storage_handle allocate_gradient(const gradient_sink& sink) {
  const std::size_t bytes = gradient_bytes(sink);
  return sink.device == nullptr ? allocate_storage(bytes) : sink.device->allocate(bytes);
}
inline void clear_gradient(const gradient_sink& sink, const storage_handle& memory) {
  if (sink.device == nullptr) std::memset(memory.data(), 0, memory.bytes());
  else sink.device->clear(memory.data(), memory.bytes());
}

/// A priority queue of sinks, the newest first. It is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan, 1986) with its links in the
/// sinks, so it does not allocate.
class newest_first {
 public:
  bool empty() const { return root_ == nullptr; }
  void push(gradient_sink* s) { root_ = merge(root_, s); }
  gradient_sink* pop() {
    gradient_sink* const s = root_;
    root_ = merge_siblings(std::exchange(s->child, nullptr));
    return s;
  }

 private:
  static gradient_sink* merge(gradient_sink* a, gradient_sink* b) {
    if (a == nullptr) return b;
    if (a->sequence < b->sequence) std::swap(a, b);
    b->next = a->child;
    a->child = b;
    return a;
  }
  // Merges pairs from left to right, then merges the results from right to left.
  static gradient_sink* merge_siblings(gradient_sink* rest) {
    gradient_sink* pairs = nullptr;
    while (rest != nullptr) {
      gradient_sink* pair = rest;
      gradient_sink* const second = std::exchange(pair->next, nullptr);
      rest = nullptr;
      if (second != nullptr) {
        rest = std::exchange(second->next, nullptr);
        pair = merge(pair, second);
      }
      pair->next = pairs;
      pairs = pair;
    }
    gradient_sink* all = nullptr;
    while (pairs != nullptr) {
      gradient_sink* const pair = pairs;
      pairs = std::exchange(pair->next, nullptr);
      all = merge(all, pair);
    }
    return all;
  }

  gradient_sink* root_ = nullptr;
};

/// The state of one backward(): a list of the sinks that it holds. First come the nodes that the roots reach, newest first, and then the leaves
/// that get a cotangent. A sink is held by one backward() at a time: who sets `held_by` from null alone reads and writes what the sink keeps
/// while backward() runs.
class backward_queue {
 public:
  backward_queue() = default;
  backward_queue(const backward_queue&) = delete;
  backward_queue& operator=(const backward_queue&) = delete;
  /// Undoes everything that was not committed.
  ~backward_queue() {
    while (!waiting_.empty()) undo(*sink_handle::adopt(waiting_.pop()));
    while (first_ != nullptr) undo(*take_first());
  }

  /// Adds a node to those that check_all() checks. A leaf needs no check.
  void reach(const sink_handle& sink) {
    if (sink->is_node() && hold(*sink)) waiting_.push(sink_handle(sink).release());  // the queue holds a reference
  }
  /// Checks the nodes that were reached, and those that their checks reach. Throws ownership_error if another backward() holds one.
  void check_all() {
    while (!waiting_.empty()) {
      gradient_sink* const newest = waiting_.pop();
      append(sink_handle::adopt(newest));
      newest->check(*this);
    }
  }

  /// Says that a cotangent of the sink arrives. Throws ownership_error if the sink is a leaf that another backward() holds.
  void push(const sink_handle& sink) {
    if (hold(*sink)) append(sink);
    sink->gets_cotangent = true;
  }
  /// Lets each node pass on its cotangent, newest first, when all cotangents of it have arrived. The leaves, which pass on nothing, follow.
  void visit_all() {
    for (gradient_sink* s = first_; s != nullptr; s = s->next) {
      if (!s->gets_cotangent) continue;
      s->propagate(*this);
      if (!s->retains) s->arriving = {};
    }
  }
  /// Adds the cotangents to the gradients. From here on only a device that fails to add can throw. The gradient of this leaf is then
  /// unchanged.
  void commit(bool retain_graph) {
    std::exception_ptr refused;
    while (first_ != nullptr) {
      const sink_handle sink = take_first();
      if (sink->is_overwritten) sink->grad.bump();
      if (sink->arriving) add_to_gradient(*sink, refused);
      if (sink->gets_cotangent && !retain_graph) sink->release();
      let_go(*sink);
    }
    if (refused) [[unlikely]] std::rethrow_exception(refused);
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_busy() {
    throw ownership_error(message("backward") << "another backward() through the same tensors has not ended: one at a time over a leaf");
  }
  /// Whether this call has taken the sink, which no backward() held. Throws if another one holds it.
  bool hold(gradient_sink& sink) const {
    const backward_queue* const holder = sink.held_by.compare_exchange_acquire(nullptr, this);
    if (holder != nullptr && holder != this) [[unlikely]] throw_busy();
    return holder == nullptr;
  }
  static void let_go(gradient_sink& sink) noexcept {
    sink.is_overwritten = false;
    sink.gets_cotangent = false;
    sink.held_by.store_release(nullptr);  // last: from here on another thread may hold it
  }
  void append(sink_handle sink) {
    gradient_sink* const s = sink.release();  // the list holds the reference
    s->next = nullptr;
    *last_ = s;
    last_ = &s->next;
  }
  sink_handle take_first() {
    gradient_sink* const s = first_;
    first_ = s->next;
    s->next = nullptr;
    return sink_handle::adopt(s);
  }
  static void add_to_gradient(gradient_sink& sink, std::exception_ptr& refused) noexcept {
    if (!sink.grad) {
      sink.grad = std::move(sink.arriving);
    } else {
      sink.grad.bump();
      sink.is_zeroed = false;
      if (sink.device == nullptr) accumulate(sink.type, sink.grad, sink.arriving, count(sink.shape));
      else add_on_device(sink, refused);
      sink.arriving = {};
    }
  }
  static void add_on_device(gradient_sink& sink, std::exception_ptr& refused) noexcept {
    try {
      accumulate(sink, sink.grad, sink.arriving);
    } catch (...) {
      refused = std::current_exception();
    }
  }
  static void undo(gradient_sink& sink) noexcept {
    sink.arriving = {};
    if (sink.is_overwritten) {
      if (sink.device == nullptr) std::memset(sink.grad.data(), 0, sink.grad.bytes());
      else clear_on_device(sink);
      sink.is_zeroed = true;
    }
    let_go(sink);
  }

  static void clear_on_device(gradient_sink& sink) noexcept {
    try {
      clear_gradient(sink, sink.grad);
    } catch (...) {
      sink.grad = {};  // the gradient is removed, because it may be partly written
    }
  }

  newest_first waiting_;
  gradient_sink* first_ = nullptr;
  gradient_sink** last_ = &first_;
};

/// The memory into which a cotangent of a sink is computed. It is the gradient of a leaf if that is zero and has no other owner. Otherwise
/// it is separate memory, and finish() moves it to the sink or adds it there.
struct delivery {
  sink_handle sink;
  storage_handle temporary{};

  void* begin(backward_queue& queue) {
    queue.push(sink);  // before anything of the sink is read: another thread may hold it
    if (overwrites()) return sink->grad.data();
    temporary = allocate_gradient(*sink);
    return temporary.data();
  }
  /// The sum of the cotangents so far, zeros at first. A caller that adds to some elements only uses it.
  void* so_far(backward_queue& queue) {
    queue.push(sink);
    if (!overwrites() && !slot()) {
      storage_handle zero = allocate_gradient(*sink);
      clear_gradient(*sink, zero);
      slot() = std::move(zero);
    }
    return slot().data();
  }
  void finish(backward_queue& queue) {
    queue.push(sink);
    if (temporary) {
      if (!slot()) slot() = std::move(temporary);
      else accumulate(*sink, slot(), temporary);
      temporary = {};
    }
  }

 private:
  storage_handle& slot() { return sink->is_overwritten ? sink->grad : sink->arriving; }
  // Only the first cotangent of a backward() can overwrite the gradient.
  bool overwrites() {
    if (sink->is_node() || sink->arriving || !sink->grad_is_zero() || sink->grad.is_shared() || sink->grad.is_exported()) return false;
    sink->is_zeroed = false;
    sink->is_overwritten = true;  // commit() raises the version when it keeps the value
    return true;
  }
};

/// Checks all sinks that reach_roots() reaches. Then runs start() and all nodes that get a cotangent, newest first.
template <class ReachRoots, class Start>
void run_backward(bool retain_graph, ReachRoots reach_roots, Start start) {
  backward_queue queue;
  reach_roots(queue);
  queue.check_all();
  start(queue);
  queue.visit_all();
  queue.commit(retain_graph);
}

}  // namespace detail
}  // namespace tenure
