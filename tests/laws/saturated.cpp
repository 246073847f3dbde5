// SPDX-License-Identifier: BSL-1.0
// Values, first and second derivatives of the activations where they saturate, overflow or vanish, against numbers of mpmath: for one element and for whole
// packets of each width. scripts/accuracy.py compares all functions over their whole domains.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "agree.hpp"

using namespace laws;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
#include "data_saturated.hpp"

template <class F>
constexpr auto total = [](auto x) { return sum(F{}(x)); };
template <class F>
constexpr auto total_slope = [](auto x) { return sum(tn::grad(total<F>)(x)); };

/// Checks f at all points, in vectors of `width` elements.
template <class T, std::size_t N, class F>
void check_saturated(const char* name, const saturated (&points)[N], F, double ulps = 8, double ulps_of_second = 8) {
  const auto f = tn::compile([](auto x) { return std::tuple{F{}(x), tn::grad(total<F>)(x), tn::grad(total_slope<F>)(x)}; });
  for (const std::size_t width : {1, 4, 8, 16})
    for (std::size_t first = 0; first < N; first += width) {
      std::vector<T> in;
      for (std::size_t i = 0; i < width; ++i) in.push_back(static_cast<T>(points[(first + i) % N].x));
      const auto [value, slope, second] = f(on_device::there(tn::from(in).clone()));
      const tn::reference::array got[3] = {array_of(on_device::here(value)), array_of(on_device::here(slope)), array_of(on_device::here(second))};
      for (std::size_t i = 0; i < width; ++i)
        for (int k = 0; k < 3; ++k) {
          const saturated& p = points[(first + i) % N];
          constexpr double least = static_cast<double>(std::numeric_limits<T>::denorm_min()), eps = static_cast<double>(std::numeric_limits<T>::epsilon());
          // A subnormal factor has its own ulp. x^2 is the most that it is multiplied with.
          const double ulp = std::fmax(eps * p.size[k], least * std::fmax(1, std::fabs(p.x) < 1e3 ? p.x * p.x : 1));
          const double y = got[k][static_cast<std::int64_t>(i)], wanted = p.value[k];
          const bool overflows = std::fabs(wanted) > static_cast<double>(std::numeric_limits<T>::max());
          const bool is_right = overflows ? std::fabs(y) > 0.99 * static_cast<double>(std::numeric_limits<T>::max()) && (y > 0) == (wanted > 0)
                                          : std::fabs(y - wanted) <= (k == 2 ? ulps_of_second : ulps) * ulp;
          INFO("derivative " << k << " of " << name << '(' << p.x << "), " << width << " elements: " << y << " instead of " << wanted);
          CHECK(is_right);
        }
    }
}

template <class T>
void check_all() {
  check_saturated<T>("tanh", of_tanh, [](auto x) { return tanh(x); });
  check_saturated<T>("sigmoid", of_sigmoid, [](auto x) { return sigmoid(x); });
  check_saturated<T>("softplus", of_softplus, [](auto x) { return softplus(x); });
  check_saturated<T>("log_sigmoid", of_log_sigmoid, [](auto x) { return log_sigmoid(x); });
  check_saturated<T>("silu", of_silu, [](auto x) { return silu(x); });
  check_saturated<T>("mish", of_mish, [](auto x) { return mish(x); }, 8, 80);  // the rounding of softplus is in the exponent of tanh'
  check_saturated<T>("gelu", of_gelu, [](auto x) { return gelu(x); });
  check_saturated<T>("gelu_tanh", of_gelu_tanh, [](auto x) { return gelu_tanh(x); }, 4000, 4000);  // its cubic is in the exponent
  check_saturated<T>("elu", of_elu, [](auto x) { return elu(x); });
  check_saturated<T>("softsign", of_softsign, [](auto x) { return softsign(x); });
  check_saturated<T>("expm1", of_expm1, [](auto x) { return expm1(x); });
  check_saturated<T>("erf", of_erf, [](auto x) { return erf(x); });
  check_saturated<T>("erfc", of_erfc, [](auto x) { return erfc(x); });
  check_saturated<T>("asinh", of_asinh, [](auto x) { return asinh(x); });
  check_saturated<T>("atan", of_atan, [](auto x) { return atan(x); });
}

}  // namespace

TEST_CASE("activations and their derivatives are right where they saturate, in float32") { check_all<float>(); }
TEST_CASE("activations and their derivatives are right where they saturate, in float64") { check_all<double>(); }
