// SPDX-License-Identifier: BSL-1.0
// Ordinary C++ functions as steps of compiled functions.
#pragma once

#include "reference.hpp"

#include <stdexcept>

namespace external_tests {

namespace tn = tenure;

/// x^3 for each element. It counts its calls, and refuses a negative element after it has written a part of its result.
struct cube {
  static constexpr const char* name = "cube";
  static inline int calls = 0;
  void operator()(auto y, auto x) const {
    ++calls;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] * x[i] * x[i];
      if (x[i] < 0) throw std::runtime_error("cube: negative");
    }
  }
};
inline constexpr auto cubed = tn::extern_op(cube{}, tn::like<0>, [](auto x, auto y, auto g) { return 3.0 * g * y / x; });
/// The same, with a C++ function as the rule.
inline constexpr auto slope_of_cube = tn::extern_op(
    [](auto gx, auto x, auto, auto g) noexcept {
      for (std::int64_t i = 0; i < x.size(); ++i) gx[i] = 3 * x[i] * x[i] * g[i];
    },
    tn::like<0>);
inline constexpr auto cubed_outside = tn::extern_op(cube{}, tn::like<0>, slope_of_cube);
inline constexpr auto plain = [](auto x) { return x * x * x; };

/// An inner product and a bin: two results of other shapes and types, and an argument without a derivative.
inline constexpr auto dot_and_bin = tn::extern_op(
    [](double& dot, std::int64_t& bin, auto x, auto y, std::int64_t k) noexcept {
      dot = 0;
      for (std::int64_t i = 0; i < x.size(); ++i) dot += x[i] * y[i];
      bin = static_cast<std::int64_t>(std::floor(x(0))) + k;
    },
    std::tuple{tn::result<double>, tn::result<std::int64_t>},
    [](auto x, auto y, auto, auto, auto g) { return std::tuple{std::get<0>(g) * y, std::get<0>(g) * x, tn::nothing}; });

/// A function of one number.
inline constexpr auto gamma_of = tn::extern_op([](double x) noexcept { return std::lgamma(x); }, tn::result<double>);

/// The sums of the rows of a matrix. A traced function states the type of the result.
inline constexpr auto row_sums = tn::extern_op(
    [](auto y, auto x) noexcept {
      for (std::int64_t i = 0; i < x.extent(0); ++i) {
        y(i) = 0;
        for (std::int64_t j = 0; j < x.extent(1); ++j) y(i) += x(i, j);
      }
    },
    [](auto x) { return sum(x, tn::axis<1>); }, [](auto x, auto, auto g) { return zeros_like(x) + tn::unsqueeze<1>(g); });

}  // namespace external_tests
