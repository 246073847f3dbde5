// SPDX-License-Identifier: BSL-1.0
// Run-time extents: the values of a graph's symbols for the arguments of a call.
#pragma once

#include <span>

#include <tenure/backend/reference/array.hpp>
#include <tenure/core/error.hpp>
#include <tenure/ir/view.hpp>

namespace TENURE_NAMESPACE::reference {

/// An argument in memory: address, extents and strides.
struct argument {
  const void* data = nullptr;
  extents shape{};
  extents strides{};
};

inline argument argument_of(const array& a) { return {a.data.data(), a.shape, row_major_strides(a.shape)}; }

inline std::int64_t known(std::int64_t extent, const std::vector<std::int64_t>& symbols) {
  return is_static(extent) ? extent : symbols[static_cast<std::size_t>(ir::symbol_of_extent(extent))];
}
inline extents known(const extents& shape, const std::vector<std::int64_t>& symbols) {
  extents s = shape;
  for (int a = 0; a < s.rank; ++a) s[a] = known(s[a], symbols);
  return s;
}

/// The value of each symbol. Throws shape_error if extents that must be equal are not.
inline std::vector<std::int64_t> bind_symbols(const ir::graph_view& g, std::span<const argument> arguments) {
  std::vector<std::int64_t> symbols;
  for (int i = 0; i < g.symbol_count; ++i) {
    const ir::symbol& s = g.symbols[i];
    const auto from = [&]() -> const argument& { return arguments[static_cast<std::size_t>(s.a)]; };
    std::int64_t value = 0;
    switch (s.what) {
      case ir::symbol::kind::argument: value = from().shape[static_cast<int>(s.b)]; break;
      case ir::symbol::kind::stride: value = from().strides[static_cast<int>(s.b)]; break;
      case ir::symbol::kind::sum: value = known(s.a, symbols) + known(s.b, symbols); break;
      case ir::symbol::kind::difference: value = known(s.a, symbols) - known(s.b, symbols); break;
      case ir::symbol::kind::product: value = known(s.a, symbols) * known(s.b, symbols); break;
      case ir::symbol::kind::smaller: value = std::min(known(s.a, symbols), known(s.b, symbols)); break;
      case ir::symbol::kind::quotient:
        value = known(s.b, symbols) == 0 ? 0 : known(s.a, symbols) / known(s.b, symbols);
        break;
    }
    symbols.push_back(value);
  }
  for (int i = 0; i < g.constraint_count; ++i) {
    const ir::constraint& c = g.constraints[i];
    const std::int64_t a = known(c.a, symbols), b = known(c.b, symbols);
    if (c.at_least ? a < b : a != b)
      throw shape_error(tenure::detail::message(c.call) << a << (c.at_least ? " is less than " : " is not ") << b);
  }
  return symbols;
}

}  // namespace tenure::reference
