// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_indexing.hpp"

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

namespace {

/// Ascending along the last axis: each element goes where the number of its predecessors says.
template <class X>
constexpr auto sorted(const X& x) {
  constexpr std::int64_t n = X::shape_type::value[1];
  const auto mine = unsqueeze<2>(x);
  const auto others = unsqueeze<1>(x);
  const auto pairs = expand<X::shape_type::value[0], n, n>(mine);
  const auto precedes = others < mine || (others == mine && index_along<2>(pairs) < index_along<1>(pairs));
  const auto place = sum(cast<double>(precedes), axis<2>, keepdim);
  return sum(where(place == index_along<2>(pairs), mine, 0.0), axis<1>);
}

}  // namespace

TEST_CASE("golden: reading by index") {
  check<p_gather>([](auto x, auto i) { return take_along<1>(x, i); });
  check<p_index_select>([](auto x, auto i) { return gather<0>(x, i); });
  check<p_embedding>([](auto w, auto i) { return gather(w, i); });
  check<p_index2>([](auto x, auto i, auto j) { return pick(gather(x, i), j); });
  check<p_masked_fill>([](auto x, auto m) { return where(m, -1.5, x) * x; });
  check<p_sort>([](auto x) { return sorted(x); });
  check<p_topk>([](auto x) { return flip<-1>(slice<-1, 2, 2>(sorted(x))); });
  check<p_take_along>([](auto x) { return sorted(x); });
  check<p_masked_select>([](auto x, auto m) {
    // The kth of five is the element with k others before it: a static extent for a number that only the run knows.
    const auto kept = reshape<9>(m);
    const auto place = cumsum(cast<double>(kept), axis<0>) - 1.0;
    const auto wanted = index_along<0>(expand<5, 9>(place));
    return sum(where(kept && place == wanted, reshape<9>(x), 0.0), axis<1>);
  });
}

TEST_CASE("golden: writing by index") {
  check<p_scatter_add>([](auto x, auto y, auto i) {
    const auto source = unsqueeze<0>(y);  // row of the result, row of y, column
    const auto lands = cast<double>(unsqueeze<0>(i)) == index_along<0>(expand<3, 2, 3>(source));
    return x + sum(where(lands, source, 0.0), axis<1>);
  });
  check<p_scatter>([](auto x, auto y, auto i) {
    const auto source = unsqueeze<1>(y);  // row, column of the result, column of y
    const auto lands = cast<double>(unsqueeze<1>(i)) == index_along<1>(expand<2, 4, 2>(source));
    const auto is_hit = sum(cast<double>(lands), axis<2>) > 0.0;
    return where(is_hit, sum(where(lands, source, 0.0), axis<2>), x);
  });
  check<p_index_add>([](auto x, auto y, auto i) {
    const auto lands = cast<double>(i) == index_along<0>(expand<3, 4>(cast<double>(i)));
    return x + matmul(cast<double>(lands), y);
  });
}
