// SPDX-License-Identifier: BSL-1.0
// Attention as its definition says it, in products and a softmax.
#pragma once

#include <cmath>

#include "adjoint.hpp"

namespace laws {

template <class T, std::int64_t... E>
using array = tn::tensor<T, shape<E...>>;

constexpr auto attends = [](auto q, auto k, auto v) { return tn::attention(q, k, v); };
constexpr auto attends_causally = [](auto q, auto k, auto v) { return tn::attention(q, k, v, tn::causal); };

template <bool Causal>
constexpr auto written_out = [](auto q, auto k, auto v) {
  using Q = typename decltype(q)::shape_type;
  const auto scores = matmul(q, tn::transpose<-1, -2>(k)) * (1 / tn::sqrt(static_cast<double>(Q::value[Q::rank - 1])));
  if constexpr (!Causal) return matmul(softmax(scores), v);
  else return matmul(softmax(where(tn::index_along<-1>(scores) <= tn::index_along<-2>(scores), scores, -HUGE_VAL)), v);
};

/// Whether two functions have the same results, up to rounding.
template <class F, class G, class... X>
void same(F f, G g, double tolerance, const X&... x) {
  const std::vector<double> a = elements_of(tn::compile(f)(there(x)...)), b = elements_of(tn::compile(g)(there(x)...));
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("element " << i);
    CHECK(a[i] == Approx(b[i]).epsilon(tolerance).margin(tolerance));
  }
}

}  // namespace laws
