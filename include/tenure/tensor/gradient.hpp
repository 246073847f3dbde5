// SPDX-License-Identifier: BSL-1.0
// A gradient accumulator collects the cotangents of one tensor. A leaf owns its accumulator. The accumulator of a node also stores its history. Each
// history holds references to the accumulators of its operands, so an accumulator lives as long as a gradient can reach it. backward() visits
// accumulators in descending order of their sequence numbers, which grow with creation. Law: destroying a chain of any length takes
// constant stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/atomic.hpp"
#include "../core/dtype.hpp"
#include "../core/not_copied.hpp"
#include "../core/shape.hpp"
#include "../storage/block.hpp"

namespace TENURE_NAMESPACE::detail {

inline std::uint64_t next_sequence() noexcept {
  static constinit atomic<std::uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

struct device_operations;
class backward_queue;

class gradient_accumulator : not_copied {
 public:
  gradient_accumulator(dtype element_type, const extents& of, const device_operations* where = nullptr) noexcept
      : type(element_type), shape(of), device(where), sequence(next_sequence()) {}
  virtual ~gradient_accumulator() = default;

  /// Throws ownership_error if a value that propagate() reads was freed or overwritten. It also adds the accumulators of its operands to
  /// the list of the running backward().
  virtual void check(backward_queue&) const {}

  /// Adds the cotangents of the operands, computed from `arriving`, to their accumulators. A leaf has no operands and does nothing.
  virtual void propagate(backward_queue&) {}

  /// Frees the values that propagate() reads.
  virtual void release() noexcept {}

  /// True for a node, which has operands. False for a leaf.
  virtual bool is_node() const { return false; }

  /// The accumulator of the base of a view. Null for a tensor that is no view.
  virtual const gradient_accumulator* base() const { return nullptr; }

  /// True if an in-place operation has changed the value of this accumulator, or of one of its bases. The accumulator then stands for the old value.
  bool is_stale() const {
    for (const gradient_accumulator* s = this; s != nullptr; s = s->base())
      if (s->is_superseded) return true;
    return false;
  }

  /// True if every element of grad is still the zero that zero_grad() wrote. Then backward() may overwrite grad and need not add to it.
  bool grad_is_zero() const { return grad && is_zeroed && grad.version() == zeroed_at; }

  // Accumulators are allocated from the pool, because every step of a loop makes new ones. Derived classes inherit this.
  static void* operator new(std::size_t bytes) { return memory_pool::take(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { memory_pool::give(memory, bytes); }

  dtype type;
  bool retains = false;  ///< the accumulator keeps grad after propagate(): true for leaves, and for nodes after retain_grad()
  bool is_zeroed = false;
  bool is_superseded = false;  ///< an in-place operation consumed the tensor; its result has a new accumulator
  bool is_overwritten = false;  ///< used for a leaf while backward() runs: cotangents overwrite the zeros of grad
  bool gets_cotangent = false;  ///< used while backward() runs: a cotangent has arrived or is being computed
  atomic<const backward_queue*> held_by{nullptr};  ///< the running backward() that holds the accumulator; no other backward() may use it meanwhile
  std::uint64_t zeroed_at = 0;
  extents shape;
  const device_operations* device;  ///< the operations on the memory of grad and arriving, see memory.hpp; null on the host
  std::uint64_t sequence;
  storage_handle grad;  ///< the gradient: contiguous, with `type` and `shape`; null until one has arrived
  storage_handle arriving;  ///< used while backward() runs: the sum of the cotangents that have arrived
  gradient_accumulator* child = nullptr;  ///< used while backward() runs: a link in the queue of nodes that wait
  gradient_accumulator* next = nullptr;  ///< a link for lists of accumulators: used by backward(), and at the end by the deferred destruction

 private:
  friend class accumulator_handle;
  atomic<std::uint32_t> references_{0};
};

/// A counted reference to an accumulator. It may be empty.
class accumulator_handle {
 public:
  accumulator_handle() = default;
  explicit accumulator_handle(gradient_accumulator* s) noexcept : accumulator_(s) { keep(); }
  accumulator_handle(const accumulator_handle& other) noexcept : accumulator_(other.accumulator_) { keep(); }
  accumulator_handle(accumulator_handle&& other) noexcept : accumulator_(std::exchange(other.accumulator_, nullptr)) {}
  accumulator_handle& operator=(accumulator_handle other) noexcept {
    std::swap(accumulator_, other.accumulator_);
    return *this;
  }
  ~accumulator_handle() {
    if (accumulator_ != nullptr) drop();
  }

  explicit operator bool() const { return accumulator_ != nullptr; }
  friend bool operator==(const accumulator_handle& a, const accumulator_handle& b) { return a.accumulator_ == b.accumulator_; }
  gradient_accumulator* get() const { return accumulator_; }
  gradient_accumulator* operator->() const { return accumulator_; }
  gradient_accumulator& operator*() const { return *accumulator_; }
  /// Returns the pointer without dropping the reference. adopt() must take the reference over.
  gradient_accumulator* release() noexcept { return std::exchange(accumulator_, nullptr); }
  static accumulator_handle adopt(gradient_accumulator* s) noexcept {
    accumulator_handle h;
    h.accumulator_ = s;
    return h;
  }

 private:
  void keep() noexcept {
    if (accumulator_ != nullptr) accumulator_->references_.fetch_add(1);
  }
  void drop() noexcept {
    if (accumulator_->references_.drop()) destroy(accumulator_);
  }

  // Destroying an accumulator drops its references to the accumulators of its operands. Only the outermost call destroys; inner calls put the
  // accumulator into a queue, so that a long chain needs no deep recursion.
  struct queue {
    gradient_accumulator* first;
    bool draining;
  };
  static void destroy(gradient_accumulator* dead) noexcept {
    static constinit thread_local queue pending{nullptr, false};
    dead->next = pending.first;
    pending.first = dead;
    if (pending.draining) return;
    pending.draining = true;
    while (pending.first != nullptr) {
      gradient_accumulator* const s = pending.first;
      pending.first = s->next;
      delete s;
    }
    pending.draining = false;
  }

  gradient_accumulator* accumulator_ = nullptr;
};

inline accumulator_handle make_leaf_accumulator(dtype element_type, const extents& of, const device_operations* where = nullptr) {
  accumulator_handle made(new gradient_accumulator(element_type, of, where));
  made->retains = true;
  return made;
}

}  // namespace tenure::detail
