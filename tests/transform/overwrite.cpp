// SPDX-License-Identifier: BSL-1.0
// Targets that are arguments: what a later result still reads is not overwritten.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;
using on_device::here;
using on_device::there;

namespace {

template <class F, class V>
void check_in_place(F f, const V& x, const V& y) {
  const auto function = tn::compile(f);
  const auto beside = function(x, y);
  const auto& first = here(std::get<0>(beside));
  const auto& second = here(std::get<1>(beside));
  const auto same = [&](const V& there_a, const V& there_b) {
    const auto& a = here(there_a);
    const auto& b = here(there_b);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      CHECK(a(i) == first(i));
      CHECK(b(i) == second(i));
    }
  };
  {
    V a = x.clone(), b = y.clone();
    function.into(a, b)(a, b);
    same(a, b);
  }
  {
    V a = x.clone(), b = y.clone();
    function.into(b, a)(a, b);
    same(b, a);
  }
  {
    V a = x.clone(), b = y.clone(), c = y.clone();
    function.into(c, a)(a, b);
    same(c, a);
  }
}

template <class V>
void check_all(const V& x, const V& y) {
  check_in_place([](auto x, auto y) { return std::tuple(y * 2.0, x); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(y, x); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(x, y); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(y, x * 2.0); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(y * 3.0, x + 1.0); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(x * 3.0, exp(x) + y); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(2.0 * y - x, y); }, x, y);
  check_in_place([](auto x, auto y) { return std::tuple(x - sum(y), y * sum(x)); }, x, y);
}

}  // namespace

TEST_CASE("results go into arguments that other results read") {
  check_all(there(tn::tensor<double, tn::shape<2>>{1, 2}), there(tn::tensor<double, tn::shape<2>>{3, 4}));
  check_all(there(tn::arange<double>(tn::shape<37>{})), there(tn::eval(tn::arange<double>(tn::shape<37>{}) * 0.5 + 1.0)));
  const auto dynamic = [](double from) {
    tn::tensor<double, tn::shape<tn::dyn>> v(1000);
    for (int i = 0; i < 1000; ++i) v.at(i) = from + 0.001 * i;
    return there(std::move(v));
  };
  check_all(dynamic(1), dynamic(-2));
}
