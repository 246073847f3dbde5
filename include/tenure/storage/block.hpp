// SPDX-License-Identifier: BSL-1.0
// A block holds the memory of one tensor and of all its aliases. It has a reference count, a version counter (every write through
// any alias raises it) and the number of graphs that saved it. Law: the payload of an allocated block is aligned to 64 bytes and
// padded to a multiple of 64 bytes, so that a packet load at the end stays inside.
// Cost: one allocation from the pool; each further reference is one atomic increment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "../core/atomic.hpp"
#include "pool.hpp"

namespace TENURE_NAMESPACE::detail {

struct alignas(memory_pool::alignment) block {
  atomic<std::uint32_t> references{1};
  atomic<std::uint32_t> saved{0};
  atomic<std::uint64_t> version{0};  // 32 bits would wrap around after a minute of small writes
  atomic<bool> lent{false};
  atomic<bool> exported{false};
  void* payload = nullptr;
  std::size_t bytes = 0;
  void (*release)(block*) noexcept = nullptr;
  void (*used)(block*) noexcept = nullptr;  // for memory that streams use: notes that this thread gives work on it to its stream
};

/// The elements of a tensor that is made in constant evaluation, as in a trace: `filled` with one value, `counted` from `first` by `step`, ones on the
/// diagonal, or `listed` in braces. There is no memory for them.
struct constant_block : block {
  struct element {
    double number = 0;
    std::int64_t whole = 0;
  };
  enum class pattern : unsigned char { filled, counted, diagonal, listed } what = pattern::filled;
  std::int64_t whole = 0;       // integers: the value that fills, or the first value of whole_step or of linspace
  std::int64_t whole_step = 0;  // the step of integers beyond 2^53, which a double would round; otherwise 0
  double first = 0, step = 0, last = 0;
  std::int64_t whole_last = 0;  // linspace: the last integer
  bool has_last = false;  // linspace: the step follows from `last` and from the number of elements, and the end is `last`, without rounding
  element* list = nullptr;
  std::int64_t listed = 0;  // the number of elements in `list`

  constexpr constant_block() = default;
  constant_block(const constant_block&) = delete;
  constexpr ~constant_block() { delete[] list; }

  /// Copies the elements, but not the references and versions.
  constexpr void describe_as(const constant_block& from) {
    what = from.what, whole = from.whole, whole_step = from.whole_step, whole_last = from.whole_last;
    first = from.first, step = from.step, last = from.last, has_last = from.has_last;
    if (from.list == nullptr) return;
    list_elements(from.listed);
    for (std::int64_t i = 0; i < listed; ++i) list[i] = from.list[i];
  }
  constexpr void list_elements(std::int64_t n) { what = pattern::listed, list = new element[static_cast<std::size_t>(n)], listed = n; }
  /// All elements have this value of an element type.
  template <class T>
  constexpr void fill_with(T value) {
    whole = std::is_integral_v<T> ? static_cast<std::int64_t>(value) : 0;
    first = static_cast<double>(value);
  }
};

/// A counted reference to a block. It may be empty.
class storage_handle {
 public:
  constexpr storage_handle() = default;
  /// Takes over the first reference of the new block `b`, whose count is 1 already.
  constexpr explicit storage_handle(block* b) noexcept : block_(b) {}
  /// In constant evaluation nothing counts references: the copy gets a block of its own.
  constexpr storage_handle(const storage_handle& other) noexcept : block_(other.block_) {
    if (block_ == nullptr) return;
    if (std::is_constant_evaluated()) block_ = copy_of(*static_cast<const constant_block*>(block_));
    else block_->references.fetch_add(1);
  }
  constexpr storage_handle(storage_handle&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  storage_handle& operator=(storage_handle other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  constexpr ~storage_handle() {
    if (block_ == nullptr) return;
    if (std::is_constant_evaluated()) delete static_cast<constant_block*>(block_);
    else drop();
  }

  constexpr explicit operator bool() const { return block_ != nullptr; }
  friend bool operator==(const storage_handle& a, const storage_handle& b) { return a.block_ == b.block_; }

  constexpr block* get() const { return block_; }
  void* data() const {
    if (block_->used != nullptr) [[unlikely]] block_->used(block_);
    return block_->payload;
  }
  /// Notes that this thread is about to give a device work on the memory. Code that takes the address of the memory calls this function.
  void note_use() const {
    if (block_ != nullptr && block_->used != nullptr) [[unlikely]] block_->used(block_);
  }
  std::size_t bytes() const { return block_->bytes; }
  bool is_shared() const { return block_->references.load_acquire() > 1; }

  std::uint64_t version() const { return block_->version.load(); }
  /// Counts a write. No write is lost if threads write disjoint elements. Cost: 1.3 ns if the process has several threads (a compiled call on 4
  /// elements takes 4.7 ns and not 4.0), 0.2 ns if it has one.
  void bump() const {
#if TENURE_VERSION_COUNTERS
    block_->version.fetch_add(1);
#endif
  }

  /// Marks that a pointer, span or map outside the library refers to the memory.
  void lend() const { block_->lent.store(true); }
  bool is_lent() const { return block_->lent.load(); }

  /// Marks that something outside the library may write the memory at any time, which no version counts.
  void mark_exported() const { block_->exported.store(true); }
  bool is_exported() const { return block_->exported.load(); }

  bool is_saved() const { return block_->saved.load() != 0; }

 private:
  static constexpr block* copy_of(const constant_block& from) {
    auto* const copy = new constant_block;
    copy->describe_as(from);
    return copy;
  }
  void drop() noexcept {
    if (block_->references.load_acquire() == 1 || block_->references.drop()) block_->release(block_);
  }

  block* block_ = nullptr;
};

/// Returns a new block of at least `bytes` bytes. The content is unspecified. Throws std::bad_alloc.
inline storage_handle allocate_storage(std::size_t bytes) {
  constexpr std::size_t unit = memory_pool::alignment;
  if (bytes > memory_pool::largest - sizeof(block) - unit) TENURE_THROW(std::bad_alloc());
  const std::size_t padded = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  auto* const b = ::new (memory_pool::take(sizeof(block) + padded)) block;
  b->payload = b + 1;
  b->bytes = padded;
  b->release = [](block* dead) noexcept {
    const std::size_t total = sizeof(block) + dead->bytes;
    dead->~block();
    memory_pool::give(dead, total);
  };
  return storage_handle(b);
}

}  // namespace tenure::detail
