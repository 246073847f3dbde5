// SPDX-License-Identifier: BSL-1.0
// A hash index over the positions of an array. It finds equal elements, for arrays in which each element is stored once: shapes,
// strides, kernels, nodes. Cost: a search looks at a few slots on average, because at least half of the slots are free.
#pragma once

#include <cstdint>

#include <tenure/ir/array.hpp>

namespace TENURE_NAMESPACE::ir {

class index {
 public:
  /// Returns the first position that was entered with this hash and for which same(position) is true, or -1.
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
