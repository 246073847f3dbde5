// SPDX-License-Identifier: BSL-1.0
// A gradient sink collects the cotangents of one tensor. A leaf owns its sink. The sink of a node also stores its history. Each
// history holds references to the sinks of its operands, so a sink lives as long as a gradient can reach it. backward() visits
// sinks in descending order of their sequence numbers, which grow with creation. Law: destroying a chain of any length takes
// constant stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/atomic.hpp"
#include "../core/dtype.hpp"
#include "../core/shape.hpp"
#include "../storage/block.hpp"

namespace TENURE_NAMESPACE::detail {

inline std::uint64_t next_sequence() noexcept {
  static constinit atomic<std::uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

struct device_operations;
class backward_queue;

class gradient_sink {
 public:
  gradient_sink(dtype element_type, const extents& of, const device_operations* where = nullptr) noexcept
      : type(element_type), shape(of), device(where), sequence(next_sequence()) {}
  gradient_sink(const gradient_sink&) = delete;
  gradient_sink& operator=(const gradient_sink&) = delete;
  virtual ~gradient_sink() = default;

  /// Throws ownership_error if a value that propagate() reads was freed or overwritten. It also adds the sinks of its operands to
  /// the list of the running backward().
  virtual void check(backward_queue&) const {}

  /// Adds the cotangents of the operands, computed from `arriving`, to their sinks. A leaf has no operands and does nothing.
  virtual void propagate(backward_queue&) {}

  /// Frees the values that propagate() reads.
  virtual void release() noexcept {}

  /// True for a node, which has operands. False for a leaf.
  virtual bool is_node() const { return false; }

  /// The sink of the base of a view. Null for a tensor that is no view.
  virtual const gradient_sink* base() const { return nullptr; }

  /// True if an in-place operation has changed the value of this sink, or of a base of it. The sink then stands for the old value.
  bool is_stale() const {
    for (const gradient_sink* s = this; s != nullptr; s = s->base())
      if (s->is_superseded) return true;
    return false;
  }

  /// True if every element of grad is still the zero that zero_grad() wrote. Then backward() may overwrite it in place of adding.
  bool grad_is_zero() const { return grad && is_zeroed && grad.version() == zeroed_at; }

  // Sinks are allocated from the pool, because every step of a loop makes new ones. Derived classes inherit this.
  static void* operator new(std::size_t bytes) { return pool::take(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { pool::give(memory, bytes); }

  dtype type;
  bool retains = false;  ///< the sink keeps grad after propagate(): true for leaves, and for nodes after retain_grad()
  bool is_zeroed = false;
  bool is_superseded = false;  ///< an in-place operation consumed the tensor; its result has a new sink
  bool is_overwritten = false;  ///< used for a leaf while backward() runs: cotangents overwrite the zeros of grad
  bool gets_cotangent = false;  ///< used while backward() runs: a cotangent has arrived or is being computed
  atomic<const backward_queue*> held_by{nullptr};  ///< the backward() that holds the sink: no other may read or write what it uses while it runs
  std::uint64_t zeroed_at = 0;
  extents shape;
  const device_operations* device;  ///< the operations on the memory of grad and arriving, see memory.hpp; null on the host
  std::uint64_t sequence;
  storage_handle grad;  ///< the gradient: contiguous, with `type` and `shape`; null until one has arrived
  storage_handle arriving;  ///< used while backward() runs: the sum of the cotangents that have arrived
  gradient_sink* child = nullptr;  ///< used while backward() runs: a link in the queue of nodes that wait
  gradient_sink* next = nullptr;  ///< a link for lists of sinks: used by backward(), and at the end by the deferred destruction

 private:
  friend class sink_handle;
  atomic<std::uint32_t> references_{0};
};

/// A counted reference to a sink. It may be empty.
class sink_handle {
 public:
  sink_handle() = default;
  explicit sink_handle(gradient_sink* s) noexcept : sink_(s) { keep(); }
  sink_handle(const sink_handle& other) noexcept : sink_(other.sink_) { keep(); }
  sink_handle(sink_handle&& other) noexcept : sink_(std::exchange(other.sink_, nullptr)) {}
  sink_handle& operator=(sink_handle other) noexcept {
    std::swap(sink_, other.sink_);
    return *this;
  }
  ~sink_handle() {
    if (sink_ != nullptr) drop();
  }

  explicit operator bool() const { return sink_ != nullptr; }
  friend bool operator==(const sink_handle& a, const sink_handle& b) { return a.sink_ == b.sink_; }
  gradient_sink* get() const { return sink_; }
  gradient_sink* operator->() const { return sink_; }
  gradient_sink& operator*() const { return *sink_; }
  /// Returns the pointer without dropping the reference. adopt() must take the reference over.
  gradient_sink* release() noexcept { return std::exchange(sink_, nullptr); }
  static sink_handle adopt(gradient_sink* s) noexcept {
    sink_handle h;
    h.sink_ = s;
    return h;
  }
  bool is_shared() const { return sink_->references_.load_acquire() > 1; }

 private:
  void keep() noexcept {
    if (sink_ != nullptr) sink_->references_.fetch_add(1);
  }
  void drop() noexcept {
    if (sink_->references_.drop()) destroy(sink_);
  }

  // Destroying a sink drops its references to the sinks of its operands. Only the outermost call destroys; inner calls put the sink
  // into a queue, so that a long chain needs no deep recursion.
  struct queue {
    gradient_sink* first;
    bool draining;
  };
  static void destroy(gradient_sink* dead) noexcept {
    static constinit thread_local queue pending{nullptr, false};
    dead->next = pending.first;
    pending.first = dead;
    if (pending.draining) return;
    pending.draining = true;
    while (pending.first != nullptr) {
      gradient_sink* const s = pending.first;
      pending.first = s->next;
      delete s;
    }
    pending.draining = false;
  }

  gradient_sink* sink_ = nullptr;
};

inline sink_handle make_leaf_sink(dtype element_type, const extents& of, const device_operations* where = nullptr) {
  sink_handle made(new gradient_sink(element_type, of, where));
  made->retains = true;
  return made;
}

}  // namespace tenure::detail
