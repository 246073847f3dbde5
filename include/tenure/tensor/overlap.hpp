// SPDX-License-Identifier: BSL-1.0
// Overlap: whether two strided sets of elements share memory. It is decided by address, so it also finds two tensors over one
// foreign buffer. Law: `none` means that they share no byte; `same` means that each element is the element at the same index of
// the other; every other case, and every undecided one, is `partial`.
// Cost: a comparison of two intervals in the usual case, else a bounded search for a solution of offset + sum i*s = offset' + sum
// j*s'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "access.hpp"
#include "layout.hpp"

namespace TENURE_NAMESPACE {

enum class overlap : unsigned char { none, same, partial };

namespace detail {

// Decides whether sum n[t] * step[t] = rest has a solution with 0 <= n[t] <= most[t]. After 100,000 steps of the search it
// answers yes.
class bounded_equation {
 public:
  constexpr void add(std::int64_t step, std::int64_t most) {
    int at = 0;
    while (at < terms_ && step_[at] > step) ++at;
    if (at < terms_ && step_[at] == step) {
      most_[at] += most;
      return;
    }
    for (int i = terms_++; i > at; --i) {
      step_[i] = step_[i - 1];
      most_[i] = most_[i - 1];
    }
    step_[at] = step;
    most_[at] = most;
  }
  constexpr bool has_solution(std::int64_t rest) {
    reach_[terms_] = divisor_[terms_] = 0;
    for (int t = terms_ - 1; t >= 0; --t) {
      reach_[t] = reach_[t + 1] + step_[t] * most_[t];
      std::int64_t a = step_[t];
      std::int64_t b = divisor_[t + 1];
      while (b != 0) {
        const std::int64_t r = a % b;
        a = b;
        b = r;
      }
      divisor_[t] = a;
    }
    return search(0, rest);
  }

 private:
  constexpr bool search(int t, std::int64_t rest) {
    if (rest < 0 || rest > reach_[t]) return false;
    if (rest == 0 || --budget_ < 0) return true;
    if (rest % divisor_[t] != 0) return false;
    const std::int64_t uncovered = rest - reach_[t + 1];
    const std::int64_t least = uncovered <= 0 ? 0 : (uncovered + step_[t] - 1) / step_[t];
    std::int64_t n = rest / step_[t];
    if (n > most_[t]) n = most_[t];
    for (; n >= least; --n)
      if (search(t + 1, rest - n * step_[t])) return true;
    return false;
  }

  int terms_ = 0;
  int budget_ = 100000;
  std::int64_t step_[2 * max_rank] = {};
  std::int64_t most_[2 * max_rank] = {};
  std::int64_t reach_[2 * max_rank + 1] = {};
  std::int64_t divisor_[2 * max_rank + 1] = {};
};

/// Whether equal indices of two layouts have equal addresses, if the first elements have.
TENURE_INLINE constexpr bool has_same_places(const layout& a, const layout& b) {
  bool same = a.shape == b.shape;
  for (int i = 0; same && i < a.shape.rank; ++i) same = a.shape[i] <= 1 || a.strides[i] == b.strides[i];
  return same;
}

/// The overlap of two layouts with elements of the same size. The base address of b is `distance` elements after that of a.
constexpr overlap overlap_at(std::int64_t distance, const layout& a, const layout& b) {
  if (count(a.shape) == 0 || count(b.shape) == 0) return overlap::none;
  std::int64_t rest = distance + b.offset - a.offset;
  if (rest == 0 && has_same_places(a, b)) return overlap::same;
  bounded_equation equation;
  for (int i = 0; i < a.shape.rank; ++i)
    if (a.shape[i] > 1 && a.strides[i] != 0) equation.add(a.strides[i], a.shape[i] - 1);
  for (int i = 0; i < b.shape.rank; ++i)
    if (b.shape[i] > 1 && b.strides[i] != 0) {
      equation.add(b.strides[i], b.shape[i] - 1);
      rest += b.strides[i] * (b.shape[i] - 1);
    }
  return equation.has_solution(rest) ? overlap::partial : overlap::none;
}

// The number of bytes from the first element to the end of the last one.
TENURE_INLINE constexpr std::int64_t reach_in_bytes(const layout& l, std::size_t element_size) {
  std::int64_t last = 0;
  for (int i = 0; i < l.shape.rank; ++i) last += l.strides[i] * (l.shape[i] - 1);
  return (last + 1) * static_cast<std::int64_t>(element_size);
}

/// True if different indices have different elements. It is exact if each stride reaches beyond all elements of the axes with
/// smaller strides; other layouts count as overlapping.
constexpr bool has_distinct_elements(const layout& l) {
  if (count(l.shape) == 0) return true;
  std::int64_t reached = 0;  // the offset of the last element along the axes with smaller strides
  bool seen[max_rank] = {};
  for (int n = 0; n < l.shape.rank; ++n) {
    int next = -1;
    for (int i = 0; i < l.shape.rank; ++i)
      if (!seen[i] && (next < 0 || l.strides[i] < l.strides[next])) next = i;
    seen[next] = true;
    if (l.shape[next] == 1) continue;
    if (l.strides[next] <= reached) return false;
    reached += l.strides[next] * (l.shape[next] - 1);
  }
  return true;
}

/// Whether all elements of `a` lie before those of `b` or behind them.
template <class T, class U>
TENURE_INLINE bool are_apart(const T* a, const layout& la, const U* b, const layout& lb) {
  const auto first_a = reinterpret_cast<std::intptr_t>(a + la.offset);
  const auto first_b = reinterpret_cast<std::intptr_t>(b + lb.offset);
  return first_a + reach_in_bytes(la, sizeof(T)) <= first_b || first_b + reach_in_bytes(lb, sizeof(U)) <= first_a;
}

template <class T, class U>
overlap overlap_of(const T* a, const layout& la, const U* b, const layout& lb) {
  if (count(la.shape) == 0 || count(lb.shape) == 0 || are_apart(a, la, b, lb)) return overlap::none;
  if (!std::is_same_v<T, U>) return overlap::partial;  // elements are aligned, so two of one type never overlap in part
  const std::intptr_t between = reinterpret_cast<std::intptr_t>(b + lb.offset) - reinterpret_cast<std::intptr_t>(a + la.offset);
  return overlap_at(between / static_cast<std::intptr_t>(sizeof(T)), {0, la.shape, la.strides}, {0, lb.shape, lb.strides});
}

/// The overlap of the elements at `a` with the layout of x and the elements at `b` with the layout of y. If the extents are static, the usual answers are two
/// comparisons with constants where the call stands. The other function computes the layouts again: with one copy of them, g++ would write it to memory in any case.
template <class T, class X, class U, class Y>
[[gnu::noinline]] overlap overlap_in_general(const T* a, const X& x, const U* b, const Y& y) {
  return overlap_of(a, {0, x.shape(), x.strides()}, b, {0, y.shape(), y.strides()});
}
template <class T, class X, class U, class Y>
TENURE_INLINE overlap overlap_of_operands(const T* a, const X& x, const U* b, const Y& y) {
  if constexpr (X::shape_type::is_static && Y::shape_type::is_static) {
    const layout la{0, x.shape(), x.strides()}, lb{0, y.shape(), y.strides()};
    if (X::shape_type::size == 0 || Y::shape_type::size == 0 || are_apart(a, la, b, lb)) return overlap::none;
    if (std::is_same_v<T, U> && static_cast<const void*>(a) == b && has_same_places(la, lb)) return overlap::same;
  }
  return overlap_in_general(a, x, b, y);
}

}  // namespace detail

/// Tells how the elements of x and y share memory. Throws ownership_error if one of them is empty.
template <any_tensor X, any_tensor Y>
overlap overlap_of(const X& x, const Y& y) {
  using door = detail::tensor_access;
  return detail::overlap_of_operands(door::read(x, "overlap_of"), x, door::read(y, "overlap_of"), y);
}

}  // namespace tenure
