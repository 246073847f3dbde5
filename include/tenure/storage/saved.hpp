// SPDX-License-Identifier: BSL-1.0
// A saved storage. A graph holds one for each value that a derivative reads. It keeps the memory alive, stores the version of that
// moment, and marks the block as saved, so that a writable export of the memory throws.
// Law: intact() is true exactly when no counted alias has written to the memory since it was saved.
#pragma once

#include <cstdint>
#include <utility>

#include "block.hpp"

namespace TENURE_NAMESPACE::detail {

class saved_storage {
 public:
  saved_storage() = default;
  explicit saved_storage(storage_handle kept) : storage_(std::move(kept)) {
    if (!storage_) return;
    version_ = storage_.version();
    mark(1);
  }
  saved_storage(const saved_storage& other) : storage_(other.storage_), version_(other.version_) { mark(1); }
  saved_storage(saved_storage&& other) noexcept : storage_(std::move(other.storage_)), version_(other.version_) {}
  saved_storage& operator=(saved_storage other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(version_, other.version_);
    return *this;
  }
  ~saved_storage() { mark(static_cast<std::uint32_t>(-1)); }

  explicit operator bool() const { return static_cast<bool>(storage_); }
  const storage_handle& storage() const { return storage_; }
  std::uint64_t version() const { return version_; }
  bool intact() const { return storage_ && (!TENURE_VERSION_COUNTERS || storage_.version() == version_); }

 private:
  void mark([[maybe_unused]] std::uint32_t change) {
#if TENURE_VERSION_COUNTERS
    if (storage_) storage_.get()->saved.fetch_add(change);
#endif
  }

  storage_handle storage_;
  std::uint64_t version_ = 0;
};

}  // namespace tenure::detail
