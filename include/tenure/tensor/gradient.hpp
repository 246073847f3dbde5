// SPDX-License-Identifier: BSL-1.0
// A gradient sink: where the cotangents of one tensor arrive. A leaf owns its sink; a node shares the sink that knows
// its history; the history of whatever was computed from them holds references, so that a sink lives as long as a
// gradient can still reach it. Sequence numbers grow with creation: backward() visits sinks in descending order. Law:
// letting go of a chain of any length takes constant stack.
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

class gradient_sink {
 public:
  gradient_sink(dtype element_type, const extents& of, const device_operations* where = nullptr) noexcept
      : type(element_type), shape(of), device(where), sequence(next_sequence()) {}
  gradient_sink(const gradient_sink&) = delete;
  gradient_sink& operator=(const gradient_sink&) = delete;
  virtual ~gradient_sink() = default;

  /// Throws where a value that propagate() reads is gone or overwritten; makes the sinks of its operands known.
  virtual void check() const {}

  /// Passes `arriving` on to the sinks of the operands; a leaf has none.
  virtual void propagate() {}

  /// Lets go of what propagate() reads.
  virtual void release() noexcept {}

  /// Whether it has operands to pass a gradient on to; a leaf has none.
  virtual bool is_node() const { return false; }

  /// Whether the value it belongs to was updated in place since: what it would pass on is the gradient of the old value.
  virtual bool is_stale() const { return is_superseded; }

  /// Whether every element of grad is still the zero that zero_grad() wrote, so that adding to it may overwrite it.
  bool grad_is_zero() const { return grad && is_zeroed && grad.version() == zeroed_at; }

  // Histories come and go with every step of a loop, so they come from the pool; derived classes inherit this.
  static void* operator new(std::size_t bytes) { return pool::take(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { pool::give(memory, bytes); }

  dtype type;
  bool retains = false;  ///< keeps grad after propagate(): leaves, and nodes after retain_grad()
  bool is_zeroed = false;
  bool is_superseded = false;  ///< its tensor went into an in-place operation, which has a sink of its own
  bool is_listed = false;  ///< while backward() runs: a leaf was reached, a node waits
  bool is_overwritten = false;  ///< of a leaf while backward() runs: cotangents go into the zeros of grad
  std::uint32_t zeroed_at = 0;
  extents shape;
  const device_operations* device;  ///< of the memory of grad and arriving, see memory.hpp; null on the host
  std::uint64_t sequence;
  storage_handle grad;  ///< contiguous, of `type` and `shape`; null until something arrived
  storage_handle arriving;  ///< while backward() runs: the cotangent so far
  gradient_sink* child = nullptr;  ///< of a node that waits while backward() runs
  gradient_sink* next = nullptr;  ///< free for the one who visits sinks; the deferred destruction uses it last

 private:
  friend class sink_handle;
  atomic<std::uint32_t> references_{0};
};

/// A counted reference to a sink, or to none.
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
  /// Gives up the reference without dropping it; adopt() takes it over.
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

  // Destroying a sink lets go of the sinks before it. Only the outermost call destroys; the inner ones queue.
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
