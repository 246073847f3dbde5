// SPDX-License-Identifier: BSL-1.0
// Foreign memory: a block whose payload belongs to somebody else, with an optional callable that lets go of it. Law:
// the callable runs exactly once, when the last tensor over the memory is gone, on that thread; if the block cannot be
// made it never runs, what it would have been made from is untouched, and the caller still owns. Such memory is neither
// padded nor aligned beyond its elements.
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
  static_assert(std::is_nothrow_move_constructible_v<std::remove_cvref_t<From>>, "tenure: from: the deleter must move without throwing");
  auto* const b = ::new (pool::take(sizeof(made))) made(std::forward<From>(from));
  b->payload = payload;
  b->bytes = bytes;
  b->release = [](block* dead) noexcept {
    auto* const self = static_cast<made*>(dead);
    self->deleter();
    self->~made();
    pool::give(self, sizeof(made));
  };
  return storage_handle(b);
}

/// A block over `bytes` bytes at `payload`, in the memory of any device; `deleter()` is called when it is no longer used.
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

/// A block over `bytes` bytes of an owner that moves into it; `where(owner)` is called when it is there. Throws
/// std::bad_alloc, and the owner then has not moved.
template <class Owner, class Where>
storage_handle keep_storage(Owner&& owner, std::size_t bytes, Where where) {
  using keeper = keeps<std::remove_cvref_t<Owner>>;
  static_assert(alignof(foreign_block<keeper>) <= pool::alignment);
  storage_handle made = make_foreign_block<keeper>(nullptr, bytes, std::move(owner));
  made.get()->payload = where(static_cast<foreign_block<keeper>*>(made.get())->deleter.owner);
  return made;
}

/// The same memory behind a version counter of its own: what unsafe_data() hands out.
inline storage_handle uncounted_storage(const storage_handle& counted) {
  return borrow_storage(counted.data(), counted.bytes(), [kept = counted]() noexcept {});
}

}  // namespace tenure::detail
