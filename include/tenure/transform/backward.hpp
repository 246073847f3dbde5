// SPDX-License-Identifier: BSL-1.0
// backward(): cotangents arrive in sinks, and sinks pass them on, the newest first. Law: every saved value is checked
// before any gradient is written, so that a backward() that throws ownership_error has changed nothing.
// Cost: two visits of each history; the queue is linked through the sinks and allocates nothing.
#pragma once

#include <cstring>

#include <tenure/storage/saved.hpp>
#include <tenure/tensor/access.hpp>

namespace tenure {

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

inline std::size_t gradient_bytes(const gradient_sink& sink) {
  return checked_bytes(sink.shape, static_cast<std::size_t>(size_of(sink.type)));
}

/// The nodes that have a cotangent to pass on, newest first.
class backward_queue {
 public:
  backward_queue() : outer_(current()) { current() = this; }
  backward_queue(const backward_queue&) = delete;
  backward_queue& operator=(const backward_queue&) = delete;
  /// What an exception left over is forgotten.
  ~backward_queue() {
    while (!empty()) pop()->arriving = {};
    current() = outer_;
  }

  void push(const sink_handle& sink) {
    gradient_sink** at = &first_;
    while (*at != nullptr && (*at)->sequence > sink->sequence) at = &(*at)->next;
    if (*at == sink.get()) return;
    sink->next = *at;
    *at = sink.get();
    sink_handle(sink).release();  // the queue holds a reference
  }
  bool empty() const { return first_ == nullptr; }
  sink_handle pop() {
    gradient_sink* const s = first_;
    first_ = s->next;
    s->next = nullptr;
    return sink_handle::adopt(s);
  }

  /// The one that this thread's backward() works on.
  static backward_queue*& current() {
    static thread_local backward_queue* queue = nullptr;
    return queue;
  }
  static void reach(const sink_handle& sink) {
    if (sink->is_node()) current()->push(sink);
  }

 private:
  gradient_sink* first_ = nullptr;
  backward_queue* outer_;
};

/// The memory into which a cotangent of a sink is computed: a leaf's own gradient where that may be overwritten, else memory
/// that finish() hands over or adds.
struct delivery {
  sink_handle sink;
  storage_handle temporary{};

  storage_handle& slot() { return sink->is_node() ? sink->arriving : sink->grad; }

  void* begin() {
    const bool overwrites = !sink->is_node() && sink->grad_is_zero() && !sink->grad.is_shared();
    if (overwrites) {
      sink->is_zeroed = false;
      sink->grad.bump();
      return sink->grad.data();
    }
    temporary = allocate_storage(gradient_bytes(*sink));
    return temporary.data();
  }
  void finish() {
    if (temporary) {
      if (!slot()) {
        slot() = std::move(temporary);
      } else {
        slot().bump();
        sink->is_zeroed = false;
        accumulate(sink->type, slot(), temporary, count(sink->shape));
      }
      temporary = {};
    }
    backward_queue::reach(sink);
  }
};

/// What a node does once all its cotangents have arrived.
inline void visit(gradient_sink& node, bool retain_graph) {
  node.propagate(retain_graph);
  if (node.retains) {
    if (!node.grad) {
      node.grad = std::move(node.arriving);
    } else {
      node.grad.bump();
      node.is_zeroed = false;
      accumulate(node.type, node.grad, node.arriving, count(node.shape));
    }
  }
  node.arriving = {};
}

/// Checks all that reach_roots() reaches, then runs start() and every node it reaches, newest first.
template <class ReachRoots, class Start>
void run_backward(bool retain_graph, ReachRoots reach_roots, Start start) {
  {
    backward_queue queue;
    reach_roots();
    while (!queue.empty()) queue.pop()->check();
  }
  backward_queue queue;
  start();
  while (!queue.empty()) visit(*queue.pop(), retain_graph);
}

}  // namespace detail
}  // namespace tenure
