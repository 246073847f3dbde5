// SPDX-License-Identifier: BSL-1.0
// Views as arguments of a call: rows, columns, transposes, slices with steps, expanded arrays, foreign memory. A call that reads small views as row-major
// arrays (transform/row_major.hpp) copies the others; the results are those of owning copies, bit for bit.
#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

template <class T, std::int64_t... E>
using array = tn::tensor<T, shape<E...>>;

constexpr auto mixed = tn::compile([](auto x) { return std::tuple{x + x * x, sum(x)}; });
constexpr auto of_tree = tn::compile([](auto all) { return std::get<0>(all) * 2.0 + std::get<1>(all)[0] - std::get<1>(all)[1]; });
constexpr auto product = tn::compile([](auto a, auto b) { return matmul(a, b); });

template <class X>
void fill(X& x) {
  using T = tn::element_t<X>;
  auto* to = tn::detail::tensor_access::fresh(x);
  for (std::int64_t i = 0; i < x.size(); ++i) to[i] = static_cast<T>(i % 7 - 3) + static_cast<T>(i) / static_cast<T>(16);
}
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  return a.extents() == b.extents() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(tn::element_t<A>)) == 0;
}

/// A call of the view, and of an owning copy of it.
template <class View>
void check(const View& view) {
  const auto copy = view.clone();
  const auto [x, sum] = mixed(view);
  const auto [wanted, wanted_sum] = mixed(copy);
  CHECK(same_bits(x, wanted));
  CHECK(same_bits(sum, wanted_sum));
  std::remove_cvref_t<decltype(wanted)> to;
  std::remove_cvref_t<decltype(wanted_sum)> to_sum;
  mixed.into(to, to_sum)(view);
  CHECK(same_bits(to, wanted));
  CHECK(same_bits(to_sum, wanted_sum));
}

}  // namespace

TEMPLATE_TEST_CASE("a call of a view has the bits of a call of an owning copy", "[views]", float, double, std::int32_t) {
  array<TestType, 4, 6> x;
  fill(x);
  check(x[2]);
  check(x.at(tn::all, 3));
  check(x.transpose());
  check(x.at(tn::range<1, 3>()));
  check(x.at(tn::all, tn::range<0, 6, 2>()));
  check(x.at(tn::range<0, 4, 2>(), tn::range<1, 6, 3>()));
  check(x.at(tn::range<1, 2>(), tn::all));
  check(x.at(tn::all, tn::range<2, 3>()));
  check(x.template view<2, 12>());
  array<TestType, 1, 3> row;
  fill(row);
  check(row.template expand<5, 3>());
  array<TestType, 2, 3, 4> cube;
  fill(cube);
  check(cube.template permute<2, 0, 1>());
  check(cube[1]);
  check(cube[1].transpose());
}

TEST_CASE("a small view compiles the program of an owning tensor, and a large one has strides", "[views]") {
  array<double, 16, 32> small;  // 4,096 bytes
  array<double, 16, 33> large;
  static_assert(std::is_same_v<decltype(mixed.plan(small.at(tn::range<0, 16>()))), decltype(mixed.plan(small))>);
  static_assert(!std::is_same_v<decltype(mixed.plan(large.at(tn::range<0, 16>()))), decltype(mixed.plan(large))>);
  fill(small), fill(large);
  check(small.at(tn::range<0, 16>()));
  check(small.transpose());
  check(large.at(tn::range<0, 16>()));
  check(large.transpose());
}

TEST_CASE("views within tuples, arrays and foreign memory", "[views]") {
  array<double, 6, 3> x;
  fill(x);
  const auto column = [&](auto i) { return x.at(tn::range<i.value, 6, 2>(), 1); };
  const std::integral_constant<int, 0> even;
  const std::integral_constant<int, 1> odd;
  const auto wanted = of_tree(std::tuple{column(even).clone(), std::array{column(odd).clone(), column(even).clone()}});
  CHECK(same_bits(of_tree(std::tuple{column(even), std::array{column(odd), column(even)}}), wanted));

  // One leaf of the tuple is too large for a copy, so all its leaves have their strides.
  array<double, 16, 64> large;
  fill(large);
  constexpr auto of_both = tn::compile([](auto both) { return std::get<0>(both) + sum(std::get<1>(both)); });
  const array<double, 3, 6> of_copies = of_both(std::tuple{x.transpose().clone(), large.transpose().clone()});
  CHECK(same_bits(of_both(std::tuple{x.transpose(), large.at(tn::range<0, 16>())}), of_both(std::tuple{x.transpose().clone(), large.clone()})));
  array<double, 3, 6> to;
  of_both.into(to)(std::tuple{x.transpose(), large.transpose()});
  CHECK(same_bits(to, of_copies));

  std::vector<double> memory(18);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i) / 8;
  const auto foreign = tn::from<shape<3, 6>>(memory.data());
  check(foreign);
  check(foreign.transpose());
}

TEST_CASE("a target may be the memory of a small view that is an argument", "[views]") {
  array<double, 3, 3> a, b;
  fill(a), fill(b);
  const array<double, 3, 3> wanted = product(a.transpose().clone(), b), other = product(a.clone(), b.transpose().clone());
  array<double, 3, 3> to = a.clone();
  product.into(to)(to.transpose(), b);
  CHECK(same_bits(to, wanted));
  array<double, 2, 3, 3> all;
  all[0] = a, all[1] = b;
  product.into(all[0])(all[0], all[1].transpose());
  CHECK(same_bits(all[0].clone(), other));
  CHECK(same_bits(all[1].clone(), b));
  all[0] = a;
  product.into(all[1])(all[0].transpose(), all[1]);
  CHECK(same_bits(all[1].clone(), wanted));
  CHECK(same_bits(all[0].clone(), a));
}

TEST_CASE("a result may be written where the row that it reads is", "[views]") {
  constexpr auto turned = tn::compile([](auto x, auto i) { return tn::flip<0>(x[i]) + x[i] * 2.0; });
  for (std::int64_t i = 0; i < 4; ++i) {
    array<double, 4, 64> x;
    fill(x);
    const array<double, 64> wanted = turned(x, i);
    turned.into(x[0])(x, i);
    CHECK(same_bits(x[0].clone(), wanted));
    array<double, 1, 64> one;
    fill(one);
    const array<double, 64> of_one = turned(one, 0);
    turned.into(one[0])(one, 0);
    CHECK(same_bits(one[0].clone(), of_one));
  }
}
