// SPDX-License-Identifier: BSL-1.0
// The run-time extents of a graph that is being built: symbols, the equalities between them, and the checks of a call.
#pragma once

#include <tenure/ir/array.hpp>
#include <tenure/ir/view.hpp>

namespace TENURE_NAMESPACE::ir {

class symbol_table {
 public:
  constexpr symbol_table() = default;
  constexpr explicit symbol_table(const graph_view& g) {
    for (int i = 0; i < g.symbol_count; ++i) add_symbol(g.symbols[i]);
    for (int i = 0; i < g.constraint_count; ++i) constraints_.push_back(g.constraints[i]);
  }

  /// Adds a symbol and returns its extent. If another symbol has the same name, returns the extent of the first symbol of this name, and adds
  /// a constraint that checks at run time that both are equal.
  constexpr std::int64_t new_symbol(const symbol& s) {
    if (s.name != 0)
      for (int i = 0; i < symbols_.size(); ++i)
        if (symbols_[i].name == s.name) {
          symbols_.push_back(s);
          equal_.push_back(extent_of_symbol(i));
          constraints_.push_back({extent_of_symbol(i), extent_of_symbol(symbols_.size() - 1), "call", -1, -1});
          return extent_of_symbol(i);
        }
    return extent_of_symbol(add_symbol(s));
  }
  /// Returns the sum, difference, product or quotient of two extents, or the smaller one. If both are numbers, the result is a number. Otherwise it is a symbol.
  /// For a difference, a is a symbol and b is a number. The caller adds the check that the number is at most the extent.
  constexpr std::int64_t derived(symbol::kind what, std::int64_t a, std::int64_t b) {
    using kind = symbol::kind;
    if (what == kind::smaller && (a == b || (is_static(a) && is_static(b)))) return a < b ? a : b;
    if (is_static(a) && is_static(b)) return what == kind::sum ? a + b : what == kind::difference ? a - b : what == kind::product ? a * b : b == 0 ? 0 : a / b;
    if (what == kind::product && (a == 1 || b == 1)) return a == 1 ? b : a;
    if (what == kind::quotient && b == 1) return a;
    if (what == kind::difference && b == 0) return a;
    // n - 1 - 1 is n - 2 and n - 1 + 1 is n, so that equal extents are known to be equal.
    const std::int64_t symbolic = is_static(a) ? b : a, known = is_static(a) ? a : b;
    if (const symbol s = symbols_[symbol_of_extent(symbolic)]; s.what == kind::difference && is_static(known)) {
      if (what == kind::difference) return derived(kind::difference, s.a, s.b + known);
      if (what == kind::sum) return known < s.b ? derived(kind::difference, s.a, s.b - known) : known == s.b ? s.a : derived(kind::sum, s.a, known - s.b);
    }
    for (int i = 0; i < symbols_.size(); ++i)
      if (symbols_[i].what == what && symbols_[i].a == a && symbols_[i].b == b) return extent_of_symbol(i);
    return extent_of_symbol(add_symbol({what, a, b, 0}));
  }

  /// Requires two extents to be equal and returns the extent that represents both. If the equality is not known here, adds a constraint
  /// that checks it at run time.
  constexpr std::int64_t unify(std::int64_t a, std::int64_t b, const char* call, std::int16_t lhs, std::int16_t rhs) {
    a = canonical(a);
    b = canonical(b);
    if (a == b) return a;
    constraints_.push_back({a, b, call, lhs, rhs});
    const bool keep_a = is_static(a) || (!is_static(b) && a > b);
    const std::int64_t kept = keep_a ? a : b, gone = keep_a ? b : a;
    if (!is_static(gone)) equal_[symbol_of_extent(gone)] = kept;
    return kept;
  }
  /// Adds a run-time check that an extent is at least `least`, unless both are numbers and this holds. The check is also added for numbers for
  /// which it fails: a run-time extent can be equal to a number because of another operand. The check stays even if no output needs the value,
  /// because the derivative of a slice writes at the place that the slice would read. `shape`: the id of the shape that the message names, or -1.
  constexpr void require_at_least(std::int64_t extent, std::int64_t least, const char* call, std::int16_t shape = -1) {
    const std::int64_t have = canonical(extent), need = canonical(least);
    if (!is_static(have) || !is_static(need) || have < need) constraints_.push_back({extent, least, call, shape, -1, true});
  }
  constexpr std::int64_t canonical(std::int64_t e) const {
    while (!is_static(e) && equal_[symbol_of_extent(e)] != e) e = equal_[symbol_of_extent(e)];
    return e;
  }

 protected:
  constexpr int add_symbol(const symbol& s) {
    equal_.push_back(extent_of_symbol(symbols_.size()));
    return symbols_.push_back(s);
  }
  constexpr bool has_equal_symbols() const {
    for (int i = 0; i < equal_.size(); ++i)
      if (equal_[i] != extent_of_symbol(i)) return true;
    return false;
  }

  array<symbol> symbols_;
  array<std::int64_t> equal_;  // union-find over symbols
  array<constraint> constraints_;
};

}  // namespace tenure::ir
