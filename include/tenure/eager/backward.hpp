// SPDX-License-Identifier: BSL-1.0
// backward(): cotangents arrive in sinks, and sinks pass them on, the newest first. Law: a backward() that throws has
// changed nothing: saved values are checked before the first cotangent, and gradients are added, and saved values freed,
// only when the last one has arrived. Cost: three visits of each history, O(log n) for the newest of n that wait; queue and
// lists are linked through the sinks and allocate nothing; a leaf's cotangent waits in memory of its own, unless its gradient is
// zero, which it may overwrite at once.
#pragma once

#include <cstring>
#include <exception>
#include <utility>

#include <tenure/storage/saved.hpp>
#include <tenure/tensor/access.hpp>

namespace TENURE_NAMESPACE {

/// loss.backward(tn::retain_graph): the graph stays, for another backward().
inline constexpr bool retain_graph = true;

namespace detail {

/// Adds n elements of a gradient's type.
inline void accumulate(dtype type, const storage_handle& to, const storage_handle& from, std::int64_t n) {
  const auto add = [n](auto* t, const auto* f) {
    for (std::int64_t i = 0; i < n; ++i) t[i] += f[i];
  };
  if (type == dtype::float32) add(static_cast<float*>(to.data()), static_cast<const float*>(from.data()));
  else add(static_cast<double*>(to.data()), static_cast<const double*>(from.data()));
}

/// The same where the sink's memory is.
inline void accumulate(const gradient_sink& sink, const storage_handle& to, const storage_handle& from) {
  if (sink.device == nullptr) return accumulate(sink.type, to, from, count(sink.shape));
  const extents row = row_major(sink.shape);
  sink.device->add(sink.type, to.data(), row, from.data(), row, sink.shape);
}

inline std::size_t gradient_bytes(const gradient_sink& sink) {
  return checked_bytes(sink.shape, static_cast<std::size_t>(size_of(sink.type)));
}

/// Memory for a gradient, where the sink's is.
inline storage_handle allocate_gradient(const gradient_sink& sink) {
  const std::size_t bytes = gradient_bytes(sink);
  return sink.device == nullptr ? allocate_storage(bytes) : sink.device->allocate(bytes);
}
inline void clear_gradient(const gradient_sink& sink, const storage_handle& memory) {
  if (sink.device == nullptr) std::memset(memory.data(), 0, memory.bytes());
  else sink.device->clear(memory.data(), memory.bytes());
}

/// Sinks, the newest first: a pairing heap (Fredman, Sedgewick, Sleator and Tarjan, 1986) whose links are the sinks' own.
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
  // Two by two from the left, then all from the right.
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

/// One backward(): the nodes that have a cotangent to pass on, newest first, and the sinks that keep what arrived.
class backward_queue {
 public:
  backward_queue() = default;
  backward_queue(const backward_queue&) = delete;
  backward_queue& operator=(const backward_queue&) = delete;
  /// What was not committed is undone.
  ~backward_queue() {
    while (!empty()) undo(*pop());
    while (visited_ != nullptr) undo(*take(visited_));
  }

  void push(const sink_handle& sink) {
    if (sink->listed_by == this) return;
    check_free(*sink);
    sink->listed_by = this;
    if (sink->is_node()) waiting_.push(sink_handle(sink).release());  // the queue holds a reference
    else list(sink);
  }
  bool empty() const { return waiting_.empty(); }
  sink_handle pop() {
    sink_handle newest = sink_handle::adopt(waiting_.pop());
    newest->listed_by = nullptr;
    return newest;
  }

  /// What a node does once all its cotangents have arrived.
  void visit(const sink_handle& node) {
    node->listed_by = this;
    list(node);
    node->propagate(*this);
    if (!node->retains) node->arriving = {};
  }
  /// Adds what arrived to the gradients. From here on nothing throws but a device that refuses to add: that leaf's gradient is
  /// then as it was.
  void commit(bool retain_graph) {
    std::exception_ptr refused;
    while (visited_ != nullptr) {
      const sink_handle sink = take(visited_);
      if (sink->is_overwritten) sink->grad.bump();
      if (sink->arriving) add_to_gradient(*sink, refused);
      sink->listed_by = nullptr;
      sink->is_overwritten = false;
      if (!retain_graph) sink->release();
    }
    if (refused) [[unlikely]] std::rethrow_exception(refused);
  }

  /// Adds a node to the ones that wait. A leaf has nothing to check.
  void reach(const sink_handle& sink) {
    if (sink->is_node()) push(sink);
  }
  /// Throws ownership_error if another backward() that has not ended holds cotangents of this sink.
  void check_free(const gradient_sink& sink) const {
    if (sink.listed_by != nullptr && sink.listed_by != this) [[unlikely]] throw_busy();
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_busy() {
    throw ownership_error(message("backward") << "another backward() through the same tensors has not ended: one at a time over a leaf");
  }
  void list(const sink_handle& sink) {
    sink->next = visited_;
    visited_ = sink.get();
    sink_handle(sink).release();
  }
  static sink_handle take(gradient_sink*& first) {
    gradient_sink* const s = first;
    first = s->next;
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
    sink.listed_by = nullptr;
    sink.is_overwritten = false;
  }

  static void clear_on_device(gradient_sink& sink) noexcept {
    try {
      clear_gradient(sink, sink.grad);
    } catch (...) {
      sink.grad = {};  // rather no gradient than half of one
    }
  }

  newest_first waiting_;
  gradient_sink* visited_ = nullptr;
};

/// The memory into which a cotangent of a sink is computed: the zeros of a leaf's gradient that nobody else sees, else memory
/// that finish() hands over or adds.
struct delivery {
  sink_handle sink;
  storage_handle temporary{};

  void* begin(backward_queue& queue) {
    queue.check_free(*sink);
    if (overwrites(queue)) return sink->grad.data();
    temporary = allocate_gradient(*sink);
    return temporary.data();
  }
  /// What has arrived so far, zeros at first: for who adds to some of the elements.
  void* so_far(backward_queue& queue) {
    queue.push(sink);  // first, so that what arrives is undone if anything throws
    if (!overwrites(queue) && !slot()) {
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
  // Once in a backward(), and only as the first to arrive.
  bool overwrites(backward_queue& queue) {
    if (sink->is_node() || sink->arriving || !sink->grad_is_zero() || sink->grad.is_shared() || sink->grad.is_exported()) return false;
    queue.push(sink);
    sink->is_zeroed = false;
    sink->is_overwritten = true;  // the version rises when commit() keeps what was written
    return true;
  }
};

/// Checks all that reach_roots() reaches, then runs start() and every node it reaches, newest first.
template <class ReachRoots, class Start>
void run_backward(bool retain_graph, ReachRoots reach_roots, Start start) {
  {
    backward_queue queue;
    reach_roots(queue);
    while (!queue.empty()) queue.pop()->check(queue);
  }
  backward_queue queue;
  start(queue);
  while (!queue.empty()) queue.visit(queue.pop());
  queue.commit(retain_graph);
}

}  // namespace detail
}  // namespace tenure
