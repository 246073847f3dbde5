// SPDX-License-Identifier: BSL-1.0
// What programs.py asks of a program F, a function of a tuple of tensors with two results: the results, the gradients of <both, cotangents>, the
// tangents of both, and a second derivative of the first result alone, along the tangents.
#pragma once

#include <cstdio>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

namespace peers {

enum class order { none, forward, reverse };

/// Reads the next numbers as tensors.
template <class Tuple>
Tuple taken(const double*& from) {
  const auto next = [&]<class T, class Shape>(const tenure::tensor<T, Shape>*) {
    tenure::tensor<T, Shape> x(tenure::uninitialized);
    for (T& to : tenure::as_span(x)) to = static_cast<T>(*from++);
    return x;
  };
  return [&]<class... X>(const std::tuple<X...>*) { return Tuple{next(static_cast<X*>(nullptr))...}; }(static_cast<Tuple*>(nullptr));
}

template <class Tuple>
constexpr std::size_t numbers_of = 0;
template <class... X>
constexpr std::size_t numbers_of<std::tuple<X...>> = (0 + ... + std::size_t{X::shape_type::size});

template <class A, class B>
constexpr auto dot(const A& a, const B& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return (... + tenure::sum(std::get<I>(a) * std::get<I>(b))); }(std::make_index_sequence<std::tuple_size_v<A>>{});
}

template <class F>
constexpr auto loss = [](auto x, auto c) { return dot(F{}(x), c); };
template <class F>
constexpr auto slope_of_first = [](auto x, auto c) {
  return tenure::grad([c](auto at) { return tenure::sum(std::get<0>(F{}(at)) * std::get<0>(c)); })(x);
};

/// Appends all of them for the arguments, tangents and cotangents at `from`, which it moves behind them.
template <class F>
void evaluate(const double*& from, std::vector<double>& to) {
  using namespace tenure;
  const auto write = [&](const auto& all) {
    tenure::for_each_leaf(all, [&](const auto& x) {
      for (const auto v : as_span(x)) to.push_back(v);
    });
  };
  const auto x = taken<typename F::arguments>(from);
  const auto t = taken<typename F::arguments>(from);
  const auto c = taken<typename F::results>(from);
  write(compile([](auto at, auto weights) { return std::tuple{F{}(at), grad<0>(loss<F>)(at, weights)}; })(x, c));
  write(compile([](auto at, auto along) { return std::get<1>(jvp([](auto y) { return F{}(y); })(at, along)); })(x, t));
  if constexpr (F::second == order::forward)
    write(compile([](auto at, auto along, auto weights) { return std::get<1>(jvp([weights](auto y) { return slope_of_first<F>(y, weights); })(at, along)); })(x, t, c));
  if constexpr (F::second == order::reverse)
    write(compile([](auto at, auto along, auto weights) { return grad([along, weights](auto y) { return dot(slope_of_first<F>(y, weights), along); })(at); })(x, t, c));
}

/// Calls from the standard input, results to the standard output, as bytes.
template <class F>
void run(int calls) {
  constexpr std::size_t each = 2 * numbers_of<typename F::arguments> + numbers_of<typename F::results>;
  for (int i = 0; i < calls; ++i) {
    std::vector<double> given(each), got;
    if (std::fread(given.data(), sizeof(double), each, stdin) != each) std::abort();
    const double* from = given.data();
    evaluate<F>(from, got);
    std::fwrite(got.data(), sizeof(double), got.size(), stdout);
  }
}

}  // namespace peers
