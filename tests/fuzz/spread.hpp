// SPDX-License-Identifier: BSL-1.0
// The arguments of a random graph in memory.
#pragma once

#include <vector>

#include <tenure/backend/reference/plan.hpp>

#include "random_graph.hpp"

namespace fuzz {

/// The arguments as they lie in memory: strided ones spread out among elements that nothing may read, some axes backwards; behind
/// each as many bytes as asked for, which tensors have too.
struct spread_arguments {
  std::vector<array> memory;
  std::vector<tenure::reference::argument> bound;

  spread_arguments(const sample& s, dice d, std::size_t behind = 0) {
    memory.reserve(s.arguments.size());
    const auto keep = [&](const array& a) {
      memory.push_back(a);
      memory.back().data.resize(a.data.size() + behind);
    };
    for (std::size_t i = 0; i < s.arguments.size(); ++i) {
      const array& a = s.arguments[i];
      if (!s.strided[i]) {
        keep(a);
        bound.push_back(tenure::reference::argument_of(memory.back()));
        continue;
      }
      extents strides;
      strides.rank = a.shape.rank;
      int order[tenure::max_rank] = {};
      for (int k = 0; k < a.shape.rank; ++k) order[k] = k;
      for (int k = a.shape.rank - 1; k > 0; --k) std::swap(order[k], order[d.below(k + 1)]);
      std::int64_t step = 1 + d.below(2), start = 0;
      for (int k = 0; k < a.shape.rank; ++k) {
        const int axis = order[k];
        const bool backwards = d.chance(0.2);
        strides[axis] = backwards ? -step : step;
        if (backwards && a.shape[axis] > 0) start += (a.shape[axis] - 1) * step;
        step *= (a.shape[axis] > 0 ? a.shape[axis] : 1) + d.below(2);
      }
      array room(a.type, {1, {step + 1}});
      for (std::byte& b : room.data) b = std::byte{a.type == dtype::boolean ? std::uint8_t{1} : std::uint8_t{0xff}};
      const auto bytes = static_cast<std::size_t>(tenure::size_of(a.type));
      std::size_t at = 0;
      tenure::reference::for_each_index(a.shape, [&](const extents& index) {
        std::int64_t to = start;
        for (int k = 0; k < index.rank; ++k) to += index[k] * strides[k];
        std::memcpy(room.data.data() + static_cast<std::size_t>(to) * bytes, a.data.data() + at, bytes);
        at += bytes;
      });
      keep(room);
      bound.push_back({memory.back().data.data() + static_cast<std::size_t>(start) * bytes, a.shape, strides});
    }
  }
};

}  // namespace fuzz
