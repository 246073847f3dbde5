// SPDX-License-Identifier: BSL-1.0
// Tensors for the protocol, and the calls that are measured. With TENURE_GRADBENCH_CHECK each call is compared with the reference backend, and
// the program fails where they differ.
#pragma once

#include "protocol.hpp"

#include <cmath>
#include <type_traits>

#include <tenure/tenure.hpp>

#ifdef TENURE_GRADBENCH_CHECK
#include <tenure/backend/reference/run.hpp>
#endif

namespace tn = tenure;

namespace gradbench {

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
using number = array<>;
using numbers = array<tn::dyn>;
using matrix = array<tn::dyn, tn::dyn>;

/// A tensor of the given type with these numbers. Its run-time extents are the last ones given.
template <class Tensor, class... N>
Tensor tensor_of(const lists& from, N... extents) {
  Tensor made(tn::uninitialized, extents...);
  const auto to = tn::as_span(made);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<tn::element_t<Tensor>>(from.values.at(i));
  return made;
}
inline numbers numbers_of(const lists& from) { return tensor_of<numbers>(from, from.values.size()); }
inline matrix matrix_of(const lists& from) { return tensor_of<matrix>(from, from.extents.at(0), from.extents.at(1)); }

template <class T, class Shape>
lists lists_of(const tn::tensor<T, Shape>& x) {
  lists made{{}, {}, std::is_integral_v<T>};
  for (int a = 0; a < Shape::rank; ++a) made.extents.push_back(x.extent(a));
  for (const T& v : tn::as_span(x)) made.values.push_back(static_cast<double>(v));
  return made;
}

template <class T, class Shape>
output output_of(const tn::tensor<T, Shape>& x) { return {{"", lists_of(x)}}; }

#ifdef TENURE_GRADBENCH_CHECK
/// f.into(results...)(x...), and then the same by the reference backend.
template <class F, class... R>
auto into(const F& f, R&... results) {
  return [&](const auto&... x) {
    f.into(results...)(x...);
    using source = tn::detail::source_of<typename F::transformed, std::remove_cvref_t<decltype(x)>...>;
    std::vector<tn::reference::array> arguments;
    const auto add = [&]<class L>(const L& leaf) {
      if constexpr (tn::any_tensor<L>) arguments.emplace_back(leaf.extents(), leaf.data());
      else arguments.emplace_back(tn::extents{}, &leaf);
    };
    (tn::detail::for_each_leaf(x, add), ...);
    const auto expected = tn::reference::run(tn::program<source>::traced.view(), arguments);
    std::size_t at = 0;
    const auto compare = [&](const auto& leaf) {
      std::vector<double> a, b;
      for (std::int64_t i = 0; i < leaf.size(); ++i) a.push_back(static_cast<double>(leaf.data()[i])), b.push_back(expected.at(at)[i]);
      ++at;
      require_agreement(a, b);
    };
    (tn::detail::for_each_leaf(results, compare), ...);
  };
}
#else
/// f.into(results...)(x...).
template <class F, class... R>
auto into(const F& f, R&... results) { return f.into(results...); }
#endif

}  // namespace gradbench
