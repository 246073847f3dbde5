// SPDX-License-Identifier: BSL-1.0
// no_grad(f, xs...): f gets writable detached aliases of xs, and read-only aliases of const tensors. It may write tensors that cannot be
// written outside, such as a leaf: no_grad([&](auto v) { v -= 0.1f * w.grad(); }, w).
// Law: results are constants, and a view that f returns cannot be written outside; only a leaf that f makes stays a leaf. Writes raise
// the version, as everywhere. Computations inside f are not recorded, also not with captured tensors. A tensor made from a captured tracked tensor
// has the type of a node but no history, and a backward() that reaches it throws. A write to a captured node keeps the history of the node. All
// this holds for the calling thread only.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include <tenure/tensor/recording.hpp>
#include <tenure/eager/in_place.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

// Whether X is a container of tensors. no_grad refuses such a result, because it could carry a writable view out of f.
template <class X>
inline constexpr bool holds_tensors = any_tensor<X>;
template <template <class...> class C, class... X>
  requires(!any_tensor<C<X...>>)
inline constexpr bool holds_tensors<C<X...>> = (holds_tensors<X> || ...);

template <class R>
auto as_constant(R&& r);
template <class... X>
auto parts_as_constants(std::tuple<X...>& r) {
  return std::apply([](X&... part) { return std::tuple{as_constant(std::move(part))...}; }, r);
}
template <class A, class B>
auto parts_as_constants(std::pair<A, B>& r) { return std::pair{as_constant(std::move(r.first)), as_constant(std::move(r.second))}; }
template <class X, std::size_t N>
auto parts_as_constants(std::array<X, N>& r) {
  return std::apply([](auto&... part) { return std::array{as_constant(std::move(part))...}; }, r);
}

template <class R>
auto as_constant(R&& r) {
  using X = std::remove_cvref_t<R>;
  if constexpr (expression<X>) return evaluate_constant(r);
  else if constexpr (requires { parts_as_constants(r); }) return parts_as_constants(r);
  else if constexpr (!any_tensor<X>) {
    static_assert(!holds_tensors<X>, "tenure: no_grad: a container of tensors may carry a view out: return tensors, or a tuple, pair or array of them");
    return X(std::forward<R>(r));
  } else if constexpr (is_leaf_v<X>) return X(std::forward<R>(r));
  else if constexpr (ownership_of_v<X> == ownership::owning) return std::forward<R>(r).detach();
  else return make_detached<const X>(r, "no_grad");
}

}  // namespace detail

/// Calls f with detached aliases of xs, writable except those of const tensors: no_grad([&](auto v) { v -= 0.1f * w.grad(); }, w). On this thread
/// the computations of f are not recorded, and the results of f are constants. An expression that f returns is evaluated, also inside a tuple, pair
/// or array.
template <class F, class... X>
auto no_grad(F&& f, X&&... xs) {
  constexpr bool are_tensors = (any_tensor<X> && ...);
  static_assert(are_tensors, "tenure: no_grad: an argument after the function is not a tensor");
  if constexpr (!are_tensors) {
    return;
  } else if constexpr (!requires { f(detail::make_detached(xs, "no_grad")...); }) {
    static_assert(detail::never<F>, "tenure: no_grad: the function does not take these aliases: one parameter for each tensor, by value");
  } else if constexpr (std::is_void_v<decltype(f(detail::make_detached(xs, "no_grad")...))>) {
    const detail::recording_pause pause;
    f(detail::make_detached(xs, "no_grad")...);
  } else {
    const detail::recording_pause pause;
    auto r = f(detail::make_detached(xs, "no_grad")...);
    return detail::as_constant(std::move(r));
  }
}

// There is no guard object. It does not compile and gives the message.
template <class Nothing = void>
after_error no_grad() {
  static_assert(!std::is_void_v<Nothing>, "tenure: no_grad: there is no guard: call no_grad with a function, and with the tensors that it writes");
  return {};
}

}  // namespace tenure
