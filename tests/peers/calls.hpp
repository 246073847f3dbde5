// SPDX-License-Identifier: BSL-1.0
// What calls.py asks of a function F of a tuple of tensors and of data: its results, and the gradient of the sum of all of them, each element with a weight
// of its own. Extents come at run time, so one compilation serves all sizes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

namespace peers {

template <class T, std::int64_t... E>
using tensor = tenure::tensor<T, tenure::shape<E...>>;

inline double next_number() {
  double x;
  if (std::fread(&x, sizeof x, 1, stdin) != 1) std::abort();
  return x;
}

/// Reads the extents and the elements of a tensor whose extents are all static, or all known at run time.
template <class X>
X next_tensor() {
  constexpr std::size_t rank = X::shape_type::rank;
  std::int64_t n[rank + 1] = {};
  for (std::size_t i = 0; i < rank; ++i) n[i] = static_cast<std::int64_t>(next_number());
  X x = [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (X::shape_type::is_static) return X(tenure::uninitialized);
    else return X(tenure::uninitialized, n[I]...);
  }(std::make_index_sequence<rank>{});
  for (auto& to : tenure::as_span(x)) to = static_cast<std::remove_reference_t<decltype(to)>>(next_number());
  return x;
}
template <class Tuple>
Tuple next_tuple() {
  return [&]<class... X>(const std::tuple<X...>*) { return Tuple{next_tensor<X>()...}; }(static_cast<Tuple*>(nullptr));
}

/// Weights for the results: some negative, none 0, and exact in Python too.
template <class R>
R weights_for(R results) {
  std::int64_t leaf = 0;
  tenure::for_each_leaf(results, [&](auto& x) {
    std::int64_t k = 0;
    for (auto& w : tenure::as_span(x)) w = (8 + (7 * k + 3 * leaf) % 11) / 16.0 * ((k + leaf) % 3 == 0 ? -1 : 1), ++k;
    ++leaf;
  });
  return results;
}

template <class A, class B>
constexpr auto weighted(const A& a, const B& b) {
  if constexpr (requires { a * b; }) return tenure::sum(a * b);
  else return [&]<std::size_t... I>(std::index_sequence<I...>) { return (... + tenure::sum(std::get<I>(a) * std::get<I>(b))); }(std::make_index_sequence<std::tuple_size_v<A>>{});
}

/// For each call: the results, then a gradient for each argument, in the order of their elements.
template <class F>
void run(int calls) {
  using namespace tenure;
  const auto write = [](const auto& all) {
    for_each_leaf(all, [](const auto& x) {
      for (const double v : as_span(x)) std::fwrite(&v, sizeof v, 1, stdout);
    });
  };
  for (int i = 0; i < calls; ++i) {
    const auto x = next_tuple<typename F::arguments>();
    const auto data = next_tuple<typename F::data>();
    auto results = compile([](auto at, auto given) { return F{}(at, given); })(x, data);
    write(results);
    write(compile([](auto at, auto given, auto w) { return grad<0>([](auto y, auto known, auto weights) { return weighted(F{}(y, known), weights); })(at, given, w); })(
      x, data, weights_for(std::move(results))));
  }
}

}  // namespace peers
