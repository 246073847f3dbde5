// SPDX-License-Identifier: BSL-1.0
// Foreign memory: a block whose payload was not allocated by Tenure, with an optional deleter. Law: the deleter runs exactly once,
// when the last tensor over the memory is destroyed, on the thread that destroys it. If the block cannot be allocated, the deleter
// never runs, the arguments are unchanged, and the caller still owns the memory. Foreign memory is not padded, and it has only
// the alignment of its elements.
#pragma once

#include <type_traits>
#include <utility>

#include "block.hpp"

namespace TENURE_NAMESPACE::detail {

struct no_deleter {
  void operator()() const noexcept {}
};

template <class Deleter>
struct foreign_block : block {
  template <class From>
  explicit foreign_block(From&& from) : deleter{std::forward<From>(from)} {}
  Deleter deleter;
};

template <class Deleter, class From>
storage_handle make_foreign_block(void* payload, std::size_t bytes, From&& from) {
  using made = foreign_block<Deleter>;
  static_assert(std::is_nothrow_move_constructible_v<std::remove_cvref_t<From>>,
                "tenure: from: the move constructor of the deleter must not throw");
  auto* const b = ::new (memory_pool::take(sizeof(made))) made(std::forward<From>(from));
  b->payload = payload;
  b->bytes = bytes;
  b->release = [](block* dead) noexcept {
    auto* const self = static_cast<made*>(dead);
    self->deleter();
    self->~made();
    memory_pool::give(self, sizeof(made));
  };
  return storage_handle(b);
}

/// Returns a block over `bytes` bytes at `payload`, in the memory of any device. `deleter()` is called after the last use.
/// Throws std::bad_alloc.
template <class Deleter = no_deleter>
storage_handle borrow_storage(void* payload, std::size_t bytes, Deleter deleter = {}) {
  return make_foreign_block<Deleter>(payload, bytes, std::move(deleter));
}

template <class Owner>
struct keeps {
  Owner owner;
  void operator()() const noexcept {}
};

/// Moves `owner` into a new block. `where(owner)` is called after the move and returns the address of the payload of `bytes` bytes.
/// Throws std::bad_alloc; then `owner` has not been moved from.
template <class Owner, class Where>
storage_handle keep_storage(Owner&& owner, std::size_t bytes, Where where) {
  using keeper = keeps<std::remove_cvref_t<Owner>>;
  static_assert(alignof(foreign_block<keeper>) <= memory_pool::alignment);
  storage_handle made = make_foreign_block<keeper>(nullptr, bytes, std::move(owner));
  made.get()->payload = where(static_cast<foreign_block<keeper>*>(made.get())->deleter.owner);
  return made;
}

/// Returns a block over the same memory with a version counter of its own. Writes through it do not raise the version of `counted`.
/// Law: the memory lives as long as either block.
inline storage_handle uncounted_storage(const storage_handle& counted) {
  using keeper = foreign_block<keeps<storage_handle>>;
  storage_handle made = keep_storage(storage_handle(counted), counted.bytes(), [](const storage_handle& kept) { return kept.data(); });
  if (counted.get()->used != nullptr) made.get()->used = [](block* b) noexcept { static_cast<keeper*>(b)->deleter.owner.note_use(); };
  return made;
}

}  // namespace tenure::detail
