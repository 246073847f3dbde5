// SPDX-License-Identifier: BSL-1.0
// Positions of an array found again by hash, for what is kept once: shapes, strides, kernels, nodes.
// Cost: a few looks, however many there are; half of the slots stay free.
#pragma once

#include <cstdint>

#include <tenure/ir/array.hpp>

namespace TENURE_NAMESPACE::ir {

class index {
 public:
  /// The first position entered under this hash that same() confirms, or -1.
  template <class Same>
  constexpr int find(std::uint64_t hash, Same same) const {
    if (count_ == 0) return -1;
    const entry* const entries = entries_.data();
    const std::uint64_t last = static_cast<std::uint64_t>(entries_.size() - 1);
    for (std::uint64_t at = spread(hash) & last; entries[at].position >= 0; at = (at + 1) & last)
      if (entries[at].hash == hash && same(entries[at].position)) return entries[at].position;
    return -1;
  }

  constexpr void enter(std::uint64_t hash, int position) {
    if (2 * ++count_ > entries_.size()) grow();
    place({hash, position});
  }
  constexpr void clear() {
    entries_.clear();
    count_ = 0;
  }

 private:
  struct entry {
    std::uint64_t hash = 0;
    int position = -1;
  };

  static constexpr std::uint64_t spread(std::uint64_t hash) { return (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15u >> 20; }
  constexpr void place(const entry& e) {
    entry* const entries = entries_.data();
    const std::uint64_t last = static_cast<std::uint64_t>(entries_.size() - 1);
    std::uint64_t at = spread(e.hash) & last;
    while (entries[at].position >= 0) at = (at + 1) & last;
    entries[at] = e;
  }
  constexpr void grow() {
    const array<entry> old = static_cast<array<entry>&&>(entries_);
    entries_ = array<entry>(old.size() == 0 ? 16 : 2 * old.size());
    for (const entry& e : old)
      if (e.position >= 0) place(e);
  }

  array<entry> entries_;
  int count_ = 0;
};

}  // namespace tenure::ir
