// SPDX-License-Identifier: BSL-1.0
// The residuals and Jacobians of all observations as one traced function, with observations in lanes.
#pragma once

#include <tenure/ops/indexing.hpp>
#include <tenure/optim/least_squares.hpp>
#include <tenure/transform/vmap.hpp>

namespace TENURE_NAMESPACE::optim::detail {

/// One observation: (rows..., data...) -> residuals [k].
template <class F>
struct residuals_of_one {
  template <class... X>
  constexpr auto operator()(const X&... x) const { return reshape<-1>(F{}(x...)); }
};
/// One observation: (rows..., data...) -> {residuals [k], their Jacobian by each row [k, elements of the row]...}.
template <class F, std::size_t P>
struct one_observation {
  template <class... X>
  constexpr auto operator()(const X&... x) const { return split(std::make_index_sequence<P>{}, std::tuple{as_variable(x)...}); }

 private:
  template <std::size_t... I, class All>
  static constexpr auto split(std::index_sequence<I...>, const All& x) {
    const auto r = std::apply([](const auto&... each) { return F{}(each...); }, x);
    return std::tuple{reshape<-1>(r), jacobian_by<I>(r, std::get<I>(x))...};
  }
  template <std::size_t, class R, class X>
  static constexpr auto jacobian_by(const R& r, const X& x) {
    constexpr std::int64_t rows = R::shape_type::size, columns = X::shape_type::size;
    const auto j = [&] {
      if constexpr (rows < columns) return jacobian_by_rows(r, x);
      else return jacobian_by_columns(r, x);
    }();
    return reshape<rows, columns>(j);
  }
};

/// (tables..., indices..., data...) -> what One returns for each observation, with an axis of observations in front. There are P tables.
template <class One, std::size_t P>
struct for_observations {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return split(std::make_index_sequence<P>{}, std::make_index_sequence<sizeof...(X) - 2 * P>{}, std::tie(x...));
  }

 private:
  template <std::size_t... I, std::size_t... D, class All>
  static constexpr auto split(std::index_sequence<I...>, std::index_sequence<D...>, const All& all) {
    return vmap(One{})(gather<0>(std::get<I>(all), std::get<P + I>(all))..., std::get<2 * P + D>(all)...);
  }
};

/// (scale, tables..., indices..., data...) -> {cost, weighted residuals [N, k], weighted Jacobians [N, k, d]...}, or the cost alone.
template <class F, class Loss, std::size_t P, bool CostOnly>
struct linearized_rows {
  template <class C, class... X>
  constexpr auto operator()(const C& scale, const X&... x) const {
    if constexpr (CostOnly) return cost_of_residuals<Loss>(for_observations<residuals_of_one<F>, P>{}(x...), scale);
    else return weighted(std::make_index_sequence<P>{}, scale, for_observations<one_observation<F, P>, P>{}(x...));
  }

 private:
  template <std::size_t... I, class C, class Found>
  static constexpr auto weighted(std::index_sequence<I...>, const C& scale, const Found& found) {
    const auto r = std::get<0>(found);
    const auto cost = cost_of_residuals<Loss>(r, scale);
    if constexpr (std::is_same_v<Loss, robust::none>) {
      return std::tuple{cost, r, std::get<1 + I>(found)...};
    } else {
      const auto root = sqrt(Loss::weight(sum(r * r, axis<1>), cast<typename std::remove_cvref_t<decltype(r)>::element_type>(scale)));
      return std::tuple{cost, r * unsqueeze<1>(root), (std::get<1 + I>(found) * unsqueeze<1>(unsqueeze<1>(root)))...};
    }
  }
};

}  // namespace tenure::optim::detail
