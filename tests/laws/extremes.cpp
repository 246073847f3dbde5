// SPDX-License-Identifier: BSL-1.0
// Rewrites keep what a program was written for: scales that keep squares from overflowing, quotients of small numbers.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;
using on_device::here, on_device::there;
using tn::shape;

namespace {

// |x| by its largest element, as every careful norm is written.
constexpr auto scaled_norm = [](const auto& x) {
  const auto most = amax(abs(x), tn::axis<1>, tn::keepdim);
  const auto y = x * (1.0 / most);
  return std::tuple{sum(y * y, tn::axis<1>), sum(square(y)), norm(y, tn::axis<1>)};
};

template <class T>
void check_norm_of(T each) {
  const auto [squares, all, norms] = tn::compile(scaled_norm)(there(tn::full<T>(shape<4, 8>{}, each)));
  CHECK(here(squares)(3) == Approx(8));
  CHECK(all.item() == Approx(32));
  CHECK(here(norms)(3) == Approx(2.8284271));
}

}  // namespace

TEST_CASE("squares of scaled rows stay in range") {
  check_norm_of(1e30f);
  check_norm_of(1e-30f);
  check_norm_of(1e200);
  check_norm_of(1e-200);
}

TEST_CASE("a factor that keeps the terms of a sum in range stays with them") {
  using rows = tn::tensor<float, shape<1, 3>>;
  const auto scaled = tn::compile([](auto x) { return sum(x * 1e-3f, tn::axis<1>); })(there(rows{{3e38f, 3e38f, 1e38f}}));
  CHECK(here(scaled)(0) == Approx(7e35f));
  const auto weighted = tn::compile([](auto x, auto w) { return sum(x * w, tn::axis<1>); })(there(tn::full<float>(shape<2, 3>{}, 3e38f)),
                                                                                            there(tn::tensor<float, shape<2, 1>>{{1e-3f}, {1e-4f}}));
  CHECK(here(weighted)(0) == Approx(9e35f));
  CHECK(here(weighted)(1) == Approx(9e34f));
}

TEST_CASE("the sum of a product is in range where the product is") {
  const auto total = tn::compile([](auto a, auto b) { return sum(matmul(a, b)); })(there(tn::full<float>(shape<2, 3>{}, 1e-20f)), there(tn::full<float>(shape<3, 4>{}, 3e38f)));
  CHECK(total.item() == Approx(7.2e19f));
}

TEST_CASE("the gradient of a quotient overflows where the gradient does") {
  using leaf = tn::variable<float, shape<2>>;
  const leaf w{1e20f, 1e20f}, x{0, 1e-30f}, y{1e-20f, 1e-20f};
  sum(w * (x / y)).backward();
  CHECK(y.grad()(0) == 0);
  CHECK(y.grad()(1) == Approx(-1e30f));
}

TEST_CASE("the cotangent of a square overflows where the gradient does") {
  using vector = tn::tensor<float, shape<2>>;
  const auto slope = tn::grad([](auto x, auto w) { return sum(x * x * w + exp(x)); })(there(vector{0, 1e-3f}), there(vector{2e38f, 2e38f}));
  CHECK(here(slope)(0) == 1);
  CHECK(here(slope)(1) == Approx(4e35f));
}
