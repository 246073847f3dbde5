// SPDX-License-Identifier: BSL-1.0
// cholesky(a, tn::checked): it names the matrix that is not positive definite, in every transform, and throws before a result is written.
#include "agree.hpp"

#include <cstring>
#include <limits>

using namespace laws;

namespace {
using matrices = tn::tensor<double, shape<4, 2, 2>>;
using matrix = tn::tensor<double, shape<2, 2>>;

/// [[2, 1], [1, 3]], and where `wrong` says so a matrix that is not definite.
matrices some(int wrong = -1) {
  matrices a;
  for (int i = 0; i < 4; ++i) a[i] = i == wrong ? matrix{{1, 2}, {2, 1}} : matrix{{2, 1}, {1, 3}};
  return a;
}
constexpr auto factor = [](auto a) { return tn::cholesky(a, tn::checked); };
/// A result that is computed before the check, and one after it.
constexpr auto between = [](auto a) {
  const auto l = tn::cholesky(a * 1.0, tn::checked);
  return std::tuple{a * 2.0, l, sum(l)};
};
constexpr auto in_loop = [](auto xs) { return std::get<0>(tn::scan([](auto c, auto x) { return std::tuple{c + sum(tn::cholesky(x, tn::checked)), c}; }, 0.0, xs)); };
constexpr auto guarded = [](auto flag, auto a) { return tn::cond(flag, factor, [](auto a) { return a * 1.0; }, a); };
const std::string of_second = "tenure: cholesky: matrix 2 of the batch is not positive definite", of_one = "tenure: cholesky: the matrix is not positive definite";
}  // namespace

TEST_CASE("a checked cholesky has the bits of cholesky, and the same derivatives") {
  const matrices a = some();
  const matrices checked = tn::compile(factor)(a), plain = tn::cholesky(a);
  CHECK(std::memcmp(checked.data(), plain.data(), sizeof(double) * 16) == 0);
  const matrices g = tn::grad<0>([](auto a) { return sum(square(tn::cholesky(a, tn::checked))); })(a), h = tn::grad<0>([](auto a) { return sum(square(tn::cholesky(a))); })(a);
  CHECK(std::memcmp(g.data(), h.data(), sizeof(double) * 16) == 0);
  CHECK(tn::compile(in_loop)(a).item() == Approx(4 * (std::sqrt(2.0) + std::sqrt(0.5) + std::sqrt(2.5))));
}

TEST_CASE("a checked cholesky throws with the number of the matrix before a result is written") {
  const matrices wrong = some(2);
  matrices x = tn::full<double>(shape<4, 2, 2>{}, 7), y = tn::full<double>(shape<4, 2, 2>{}, 7);
  tn::tensor<double, shape<>> z(7);
  CHECK_THROWS_WITH(tn::compile(between).into(x, y, z)(wrong), of_second);
  CHECK((x(0, 0, 0) == 7 && y(0, 0, 0) == 7 && z.item() == 7));
  CHECK_THROWS_AS(tn::eval(tn::cholesky(wrong, tn::checked)), tn::error);
  CHECK_THROWS_WITH(y = tn::cholesky(wrong, tn::checked), of_second);
  CHECK(y(0, 0, 0) == 7);
  CHECK_THROWS_WITH(tn::grad<0>([](auto a) { return sum(tn::cholesky(a, tn::checked)); })(wrong), of_second);
  CHECK_THROWS_WITH(tn::vmap(factor)(wrong), of_second);
  const matrix one = wrong[2].clone();
  CHECK_THROWS_WITH(tn::compile(factor)(one), of_one);
  CHECK_THROWS_WITH(tn::compile(in_loop)(wrong), of_one);
  CHECK_THROWS_WITH(tn::compile(factor)(matrix{{1, 1}, {1, 1}}), of_one);  // singular to the last bit
  CHECK_THROWS_WITH(tn::compile(factor)(matrix{{std::numeric_limits<double>::quiet_NaN(), 0}, {0, 1}}), of_one);
  // A branch that is not taken checks nothing.
  CHECK_THROWS_WITH(tn::compile(guarded)(true, one), of_one);
  CHECK(tn::compile(guarded)(false, one)(0, 0) == 1);
}

TEST_CASE("a checked cholesky of run-time extents, of several axes of batches, and of no rows") {
  tn::tensor<float, shape<dyn, dyn, dyn, dyn>> a = tn::zeros<float>(shape<dyn, dyn, dyn, dyn>{}, 2, 3, 5, 5);
  for (int s = 0; s < 6; ++s)
    for (int i = 0; i < 5; ++i) a.at(s / 3, s % 3, i, i) = s == 4 && i == 4 ? 0.0f : 1.0f;
  const auto f = tn::compile(factor);
  CHECK_THROWS_WITH(f(a), "tenure: cholesky: matrix 4 of the batch is not positive definite");
  a.at(1, 1, 4, 4) = 1;
  CHECK(f(a)(1, 1, 4, 4) == 1);
  CHECK(f(tn::tensor<float, shape<dyn, dyn, dyn, dyn>>(2, 3, 0, 0)).size() == 0);
  // The reference backend refuses it too.
  using program = tn::program<tn::detail::source_of<decltype(factor), matrices>>;
  const matrices wrong = some(2);
  const std::vector<tn::reference::array> arguments{tn::reference::array(wrong.extents(), wrong.data())};
  CHECK_THROWS_WITH(tn::reference::run(program::traced.view(), arguments), of_second);
}
