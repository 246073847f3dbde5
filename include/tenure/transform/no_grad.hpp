// SPDX-License-Identifier: BSL-1.0
// no_grad(f, xs...): f gets writable detached aliases of xs (read-only ones of const tensors) and may write what outside could
// not be written, such as a leaf: no_grad([&](auto v) { v -= 0.1f * w.grad(); }, w). Law: results are constants, and a
// view that leaves f cannot be written outside. Writes raise the version, as everywhere.
#pragma once

#include <tenure/transform/in_place.hpp>

namespace tenure {
namespace detail {

template <class R>
auto as_constant(R&& r) {
  using X = std::remove_cvref_t<R>;
  if constexpr (expression<X>) return evaluate_constant(r);
  else if constexpr (!any_tensor<X>) return X(std::forward<R>(r));
  else if constexpr (ownership_of_v<X> == ownership::owning) return std::forward<R>(r).detach();
  else return make_detached<const X>(r, "no_grad");
}

template <class X>
inline constexpr bool is_tuple = false;
template <class... X>
inline constexpr bool is_tuple<std::tuple<X...>> = true;

}  // namespace detail

/// f(aliases of xs...). An expression that f returns is evaluated; std::tuple results too.
template <class F, class... X>
auto no_grad(F&& f, X&&... xs) {
  constexpr bool are_tensors = (any_tensor<X> && ...);
  static_assert(are_tensors, "tenure: no_grad: an argument after the function is not a tensor");
  if constexpr (!are_tensors) {
    return;
  } else if constexpr (std::is_void_v<decltype(f(detail::make_detached(xs, "no_grad")...))>) {
    f(detail::make_detached(xs, "no_grad")...);
  } else {
    auto r = f(detail::make_detached(xs, "no_grad")...);
    if constexpr (detail::is_tuple<decltype(r)>)
      return std::apply([](auto&... part) { return std::tuple{detail::as_constant(std::move(part))...}; }, r);
    else
      return detail::as_constant(std::move(r));
  }
}

}  // namespace tenure
