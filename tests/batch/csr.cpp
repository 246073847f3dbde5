// SPDX-License-Identifier: BSL-1.0
// csr: the sparse Jacobian of a function is its dense Jacobian.
#include "../catch.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

template <class T, std::int64_t... E>
using tensor = tn::tensor<T, tn::shape<E...>>;
using tn::dyn;

/// Two errors of one sample, from a row of three numbers, a row of two, and a number.
constexpr auto errors_of = [](auto a, auto b, auto w) { return tn::stack(w * sin(a.at(0) * b.at(1)) + a.at(2), w * w * (a.at(1) - b.at(0))); };

constexpr auto sparse = [](auto x, auto y, auto w, auto i, auto j) {
  const auto blocks = tn::vmap([](auto a, auto b, auto c) { return tn::jacobian<0, 1, 2>(errors_of)(a, b, c); });
  const auto [by_x, by_y, by_w] = blocks(gather<0>(x, i), gather<0>(y, j), w);
  return tn::csr(std::tie(x, y, w), tn::csr_block<0>(by_x, i), tn::csr_block<1>(by_y, j), tn::csr_block<2>(by_w));
};
constexpr auto all_errors = [](auto x, auto y, auto w, auto i, auto j) { return tn::vmap(errors_of)(gather<0>(x, i), gather<0>(y, j), w); };

template <class X>
X numbers(X x, double first) {
  for (auto& v : tn::as_span(x)) v = static_cast<tn::element_t<X>>(first += 0.37);
  return x;
}

/// Element (row, column) of the sparse matrix.
template <class R, class C, class V>
double element(const R& rows, const C& columns, const V& values, std::int64_t row, std::int64_t column) {
  double found = 0;
  for (std::int64_t e = rows(row); e < rows(row + 1); ++e)
    if (columns(e) == column) found += values(e);
  return found;
}

template <class Index, std::int64_t N, std::int64_t M, std::int64_t S>
void agrees_with_dense() {
  const tensor<double, N, 3> x = numbers(tensor<double, 4, 3>{}, -1.0);
  const tensor<double, M, 2> y = numbers(tensor<double, 3, 2>{}, 0.5);
  const tensor<double, S> w = numbers(tensor<double, 5>{}, 0.1);
  const tensor<Index, S> i = tensor<Index, 5>{3, 0, 0, 2, 1}, j = tensor<Index, 5>{1, 1, 2, 0, 2};
  const auto [rows, columns, values] = tn::compile(sparse)(x, y, w, i, j);
  static_assert(std::is_same_v<tn::element_t<decltype(rows)>, const Index> || std::is_same_v<tn::element_t<decltype(rows)>, Index>);
  REQUIRE(rows.size() == 11);
  REQUIRE(columns.size() == 60);
  REQUIRE(values.size() == 60);
  CHECK(rows(0) == 0);
  CHECK(rows(10) == 60);
  for (std::int64_t e = 1; e < 60; ++e)
    if (e % 6 != 0) CHECK(columns(e) > columns(e - 1));

  const auto [by_x, by_y, by_w] = tn::jacobian<0, 1, 2>(all_errors)(x, y, w, i, j);
  for (std::int64_t s = 0; s < 5; ++s)
    for (std::int64_t k = 0; k < 2; ++k) {
      INFO("row " << k << " of sample " << s);
      for (std::int64_t c = 0; c < 12; ++c) CHECK(element(rows, columns, values, 2 * s + k, c) == Approx(by_x(s, k, c / 3, c % 3)));
      for (std::int64_t c = 0; c < 6; ++c) CHECK(element(rows, columns, values, 2 * s + k, 12 + c) == Approx(by_y(s, k, c / 2, c % 2)));
      for (std::int64_t c = 0; c < 5; ++c) CHECK(element(rows, columns, values, 2 * s + k, 18 + c) == Approx(by_w(s, k, c)));
    }
}

}  // namespace

TEST_CASE("Law: the sparse Jacobian is the dense one") {
  agrees_with_dense<std::int32_t, 4, 3, 5>();
  agrees_with_dense<std::int64_t, dyn, dyn, dyn>();
  agrees_with_dense<std::int32_t, dyn, 3, dyn>();
}

TEST_CASE("csr: one row for a sample, variables of one axis, tensors in place of traced values") {
  const tensor<double, 3> x{1, 2, 3};
  const tensor<double, 2, 2> z{{1, 2}, {3, 4}};
  const tensor<double, 2> slopes{10, 20};
  const tensor<double, 2, 2> more{{5, 6}, {7, 8}};
  const tensor<std::int32_t, 2> i{2, 0};
  const auto [rows, columns, values] = tn::csr(std::tie(x, z), tn::csr_block<0>(slopes, i), tn::csr_block<1>(more));
  const tn::tensor r = rows;
  const tn::tensor c = columns;
  const tn::tensor v = values;
  CHECK(std::vector<std::int32_t>(tn::as_span(r).begin(), tn::as_span(r).end()) == std::vector<std::int32_t>{0, 3, 6});
  CHECK(std::vector<std::int32_t>(tn::as_span(c).begin(), tn::as_span(c).end()) == std::vector<std::int32_t>{2, 3, 4, 0, 5, 6});
  CHECK(std::vector<double>(tn::as_span(v).begin(), tn::as_span(v).end()) == std::vector<double>{10, 5, 6, 20, 7, 8});
  const auto [start, at, own] = tn::csr(std::tie(slopes), tn::csr_block<0>(slopes));  // a diagonal
  const tn::tensor p = at;
  static_assert(std::is_same_v<std::remove_const_t<tn::element_t<decltype(p)>>, std::int64_t>);
  CHECK(p(1) == 1);
}

TEST_CASE("csr: gradients go to the values") {
  tensor<double, 4, 3> x = numbers(tensor<double, 4, 3>{}, -1.0);
  const tensor<double, 3, 2> y = numbers(tensor<double, 3, 2>{}, 0.5);
  const tensor<double, 5> w = numbers(tensor<double, 5>{}, 0.1);
  const tensor<std::int32_t, 5> i{3, 0, 0, 2, 1}, j{1, 1, 2, 0, 2};
  constexpr auto norm = [](auto a, auto b, auto c, auto at, auto of) { return sum(square(std::get<2>(sparse(a, b, c, at, of)))); };
  const auto slope = tn::grad(norm)(x, y, w, i, j);
  for (std::size_t k = 0; k < 12; ++k) {
    double& e = tn::as_span(x)[k];
    const double was = e, h = 1e-6;
    e = was + h;
    const double above = tn::compile(norm)(x, y, w, i, j).item();
    e = was - h;
    const double below = tn::compile(norm)(x, y, w, i, j).item();
    e = was;
    CHECK(tn::as_span(slope)[k] == Approx((above - below) / (2 * h)).epsilon(1e-6).margin(1e-7));
  }
}

TEST_CASE("csr: each part alone checks the numbers of samples; of a variable only the shape counts") {
  const tensor<double, dyn> x = tensor<double, 5>{1, 2, 3, 4, 5};
  const tensor<double, dyn> three = tensor<double, 3>{10, 20, 30};
  const tensor<double, 5> five{1, 2, 3, 4, 5};
  const tensor<std::int32_t, dyn> i = tensor<std::int32_t, 3>{0, 1, 2};
  const auto parts = tn::csr(std::tie(x), tn::csr_block<0>(three, i), tn::csr_block<0>(five));
  CHECK_THROWS_AS(tn::eval(std::get<0>(parts)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(std::get<1>(parts)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(std::get<2>(parts)), tn::shape_error);

  const tn::variable<double, tn::shape<5>> leaf{1, 2, 3, 4, 5};
  const auto constant = tn::eval(std::get<2>(tn::csr(std::tie(leaf), tn::csr_block<0>(five))));
  static_assert(!tn::requires_grad_v<decltype(constant)>);
}

TEST_CASE("csr: positions that int32 cannot hold") {
  using many = tn::shape<200'000'000, 16>;
  using place = tn::tensor<std::int32_t, tn::shape<2>>;
  using ones = tn::tensor<float, tn::shape<2, 16>>;
  constexpr auto f = [](auto variable, auto values, auto i) { return std::get<1>(tn::csr(std::tie(variable), tn::csr_block<0>(values, i))); };
  using wide = decltype(tn::compile(f)(std::declval<const tn::tensor<float, many>&>(), std::declval<const ones&>(), std::declval<const place&>()));
  static_assert(std::is_same_v<std::remove_const_t<tn::element_t<wide>>, std::int64_t>);

  // The last number that int32 has, of columns and of elements, and one more.
  constexpr auto positions = []<std::int64_t Columns, std::int64_t Samples>(std::integer_sequence<std::int64_t, Columns, Samples>) {
    using variable = tn::tensor<float, tn::shape<Columns>>;
    using values = tn::tensor<float, tn::shape<Samples, 1>>;
    using indices = tn::tensor<std::int32_t, tn::shape<Samples>>;
    return tn::dtype_v<std::remove_const_t<tn::element_t<decltype(tn::compile(f)(std::declval<const variable&>(), std::declval<const values&>(), std::declval<const indices&>()))>>>;
  };
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  static_assert(positions(std::integer_sequence<std::int64_t, most, 2>{}) == tn::dtype::int32);
  static_assert(positions(std::integer_sequence<std::int64_t, most + 1, 2>{}) == tn::dtype::int64);
  static_assert(positions(std::integer_sequence<std::int64_t, 9, most>{}) == tn::dtype::int32);
  static_assert(positions(std::integer_sequence<std::int64_t, 9, most + 1>{}) == tn::dtype::int64);
}

TEST_CASE("csr: an index outside its variable, and numbers of samples that differ, throw") {
  const tensor<double, dyn> x = tensor<double, 3>{1, 2, 3};
  const tensor<double, dyn> slopes = tensor<double, 2>{10, 20};
  const tensor<std::int64_t, dyn> outside = tensor<std::int64_t, 2>{0, 3}, three = tensor<std::int64_t, 3>{0, 1, 2}, none = tensor<std::int64_t, 0>{};
  const auto f = tn::compile([](auto of, auto v, auto i) { return tn::csr(std::tie(of), tn::csr_block<0>(v, i)); });
  CHECK_THROWS_AS(f(x, slopes, outside), tn::index_error);
  CHECK_THROWS_AS(f(x, slopes, three), tn::shape_error);
  const auto [rows, columns, values] = f(x, tensor<double, dyn>(tensor<double, 0>{}), none);
  CHECK(rows.size() == 1);
  CHECK(columns.size() == 0);
}
