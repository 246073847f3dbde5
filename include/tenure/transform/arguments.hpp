// SPDX-License-Identifier: BSL-1.0
// The arguments of a call as flat arrays, and the run-time extents that follow from them.
#pragma once

#include <cstdint>

#include <tenure/transform/call_rules.hpp>
#include <tenure/transform/row_major.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

struct leaf_argument {
  const void* data = nullptr;
  extents shape{};
  extents strides{};
};

[[gnu::noinline]] inline extents bound_extents(const extents& s, const std::int64_t* symbols) {
  extents known = s;
  for (int a = 0; a < s.rank; ++a)
    if (!is_static(s[a])) known[a] = symbols[ir::symbol_of_extent(s[a])];
  return known;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_disagreement(const ir::graph_view& g, const ir::constraint& c, std::int64_t a, std::int64_t b,
                                                                      const std::int64_t* symbols) {
  text what = message(c.call);
  const std::int64_t name = is_static(c.a) || c.lhs >= 0 ? 0 : g.symbols[ir::symbol_of_extent(c.a)].name;
  if (name != 0 && !c.at_least) {
    char spelled[9] = {};
    for (int i = 0; i < 8; ++i) spelled[i] = static_cast<char>(name >> (8 * i) & 0x7f);
    what << "the extents named " << spelled << " disagree: ";
  }
  if (c.lhs >= 0 && c.at_least) TENURE_THROW(shape_error(what << "an axis of shape " << bound_extents(g.shapes[c.lhs], symbols) << " is empty, and has no largest or smallest element"));
  if (c.lhs >= 0) what << "shapes " << bound_extents(g.shapes[c.lhs], symbols) << " and " << bound_extents(g.shapes[c.rhs], symbols) << " disagree: ";
  if (!c.at_least) TENURE_THROW(shape_error(what << a << " is not " << b));
  if (c.b == 1) TENURE_THROW(shape_error(what << "there is no element"));
  if (is_static(c.a)) TENURE_THROW(shape_error(what << b << " elements are more than the " << a << " of this type that it takes"));
  TENURE_THROW(shape_error(what << a << " is less than the " << b << " that it takes"));
}

/// Fills in the run-time extents of a call. Throws shape_error if two extents disagree.
inline void bind_symbols(const ir::graph_view& g, const leaf_argument* arguments, std::int64_t* symbols) {
  const auto value = [&](std::int64_t e) { return is_static(e) ? e : symbols[ir::symbol_of_extent(e)]; };
  for (int i = 0; i < g.symbol_count; ++i) {
    const ir::symbol& s = g.symbols[i];
    const std::int64_t a = value(s.a), b = value(s.b);  // an argument and an axis are static
    switch (s.what) {
      case ir::symbol::kind::argument: symbols[i] = arguments[a].shape[static_cast<int>(b)]; break;
      case ir::symbol::kind::stride: symbols[i] = arguments[a].strides[static_cast<int>(b)]; break;
      case ir::symbol::kind::sum: symbols[i] = a + b; break;
      case ir::symbol::kind::difference: symbols[i] = a - b; break;
      case ir::symbol::kind::product: symbols[i] = a * b; break;
      case ir::symbol::kind::smaller: symbols[i] = a < b ? a : b; break;
      case ir::symbol::kind::quotient: symbols[i] = b == 0 ? 0 : a / b; break;
    }
  }
  for (int i = 0; i < g.constraint_count; ++i) {
    const ir::constraint& c = g.constraints[i];
    const std::int64_t a = value(c.a), b = value(c.b);
    const bool holds = c.at_least ? a >= b : a == b;
    if (!holds) throw_disagreement(g, c, a, b, symbols);
  }
}

/// Appends the leaves of x. `copies` (row_major.hpp) reads the elements of small views.
template <class X, class... Copies>
void collect(const X& x, leaf_argument*& at, Copies&... copies) {
  for_each_leaf(x, [&](const auto& leaf) {
    using L = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (!any_tensor<L>) *at++ = {&leaf, {}, {}};
    else if constexpr (sizeof...(Copies) == 0) *at++ = {tensor_access::read(leaf, "call"), leaf.extents(), leaf.strides()};
    else *at++ = {(copies.template read<X>(leaf), ...), leaf.extents(), leaf.strides()};
  });
}

/// An argument of a call. A number is copied, because into() may write the memory that it is in, such as v[0] of a vector v. A number of a type
/// that no tensor holds (long double, unsigned, short, ...) becomes the element type that stands for this type.
template <class X>
decltype(auto) as_argument(const X& x) {
  if constexpr (scalar<X>) return static_cast<std::conditional_t<element<X>, X, typename leaf_type<X>::element_type>>(x);
  else return (x);
}

/// Memory for the copy of a number in a tuple, an array or a model: into() may write the original, such as s[0] of a std::array s.
struct alignas(std::int64_t) number_copy {
  unsigned char bytes[sizeof(std::int64_t)];
};
/// An upper bound of the number of numbers in the trees among these arguments.
template <class... X>
inline constexpr int numbers_in_trees = (0 + ... + (tree<X>::has_numbers && !scalar<X> ? tree<X>::leaves : 0));

}  // namespace detail
}  // namespace tenure
