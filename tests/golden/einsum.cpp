// SPDX-License-Identifier: BSL-1.0
// einsum against a loop over all letters, its plans, its derivatives.
#include "../control_flow/reference.hpp"

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tn = tenure;

namespace {
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

struct array {
  std::vector<std::int64_t> extents;
  std::vector<double> numbers;
};
template <class X>
array copied(const X& x) {
  array a;
  for (int i = 0; i < X::shape_type::rank; ++i) a.extents.push_back(x.extent(i));
  a.numbers.assign(x.data(), x.data() + x.size());
  return a;
}
/// The sum over all values of all letters, one after the other.
array by_letters(const std::string& text, const std::vector<array>& x) {
  const std::size_t arrow = text.find("->");
  std::vector<std::string> in(1);
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') in.emplace_back();
    else in.back() += c;
  }
  const std::string out = text.substr(arrow + 2);
  std::map<char, std::int64_t> extent, at;
  for (std::size_t k = 0; k < in.size(); ++k)
    for (std::size_t a = 0; a < in[k].size(); ++a) extent[in[k][a]] = x[k].extents[a];
  array y;
  std::int64_t size = 1;
  for (const char c : out) y.extents.push_back(extent[c]), size *= extent[c];
  y.numbers.assign(static_cast<std::size_t>(size), 0);
  const auto position = [&](const std::string& letters) {
    std::int64_t n = 0;
    for (const char c : letters) n = n * extent[c] + at[c];
    return static_cast<std::size_t>(n);
  };
  std::int64_t all = 1;
  for (const auto& [c, e] : extent) all *= e;
  for (std::int64_t i = 0; i < all; ++i) {
    std::int64_t rest = i;
    for (const auto& [c, e] : extent) at[c] = rest % e, rest /= e;
    double term = 1;
    for (std::size_t k = 0; k < in.size(); ++k) term *= x[k].numbers[position(in[k])];
    y.numbers[position(out)] += term;
  }
  return y;
}
template <tn::einsum_text Text, class... X>
void check(const X&... x) {
  INFO(Text.at);
  constexpr auto f = tn::compile([](auto... a) { return tn::einsum<Text>(a...); });
  const auto found = f(x...);
  const array wanted = by_letters(Text.at, {copied(x)...});
  REQUIRE(found.size() == static_cast<std::int64_t>(wanted.numbers.size()));
  for (std::size_t e = 0; e < wanted.numbers.size(); ++e) CHECK(found.data()[e] == Approx(wanted.numbers[e]).epsilon(1e-12).margin(1e-13));
  judged::agree(found, judged::by_reference(f.function, x...), 1e-12);
}
template <std::int64_t... E>
real<E...> filled(double first, std::int64_t n = 0) {
  real<E...> x = [&] {
    if constexpr (tn::shape<E...>::is_static) return real<E...>();
    else return real<E...>(tn::zeros<double>(tn::shape<E...>{}, n));
  }();
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = std::sin(first + 0.7 * static_cast<double>(i));
  return x;
}
}  // namespace

TEST_CASE("einsum of one operand: transposes, sums, diagonals, traces") {
  const auto a = filled<3, 4>(1);
  const auto square = filled<3, 3>(2);
  const auto cube = filled<2, 3, 4>(3);
  const auto batch = filled<2, 3, 3>(4);
  check<"ij->ji">(a);
  check<"ij->i">(a);
  check<"ij->j">(a);
  check<"ij->">(a);
  check<"abc->cab">(cube);
  check<"abc->b">(cube);
  check<"ii->i">(square);
  check<"ii->">(square);
  check<"bii->b">(batch);
  check<"bii->ib">(batch);
  check<"iii->i">(filled<3, 3, 3>(5));
  const real<> trace = tn::einsum<"ii">(square);
  CHECK(trace.item() == Approx(square(0, 0) + square(1, 1) + square(2, 2)));
}

TEST_CASE("einsum of two operands: products of matrices, of batches, outer and elementwise products") {
  const auto a = filled<3, 4>(1);
  const auto b = filled<4, 5>(2);
  const auto c = filled<3, 4>(3);
  check<"ij,jk->ik">(a, b);
  check<"ij,jk->ki">(a, b);
  check<"ij,ij->ij">(a, c);
  check<"ij,ij->">(a, c);
  check<"ij,ij->i">(a, c);
  check<"ij,kj->ik">(a, c);
  check<"ij,kl->ikjl">(a, b);
  check<"ij,jk->">(a, b);
  check<"i,j->ij">(filled<3>(4), filled<5>(5));
  check<"i,i->">(filled<3>(4), filled<3>(5));
  check<",i->i">(filled<>(4), filled<3>(5));
  check<"bij,bjk->bik">(filled<2, 3, 4>(6), filled<2, 4, 5>(7));
  check<"bij,jk->bik">(filled<2, 3, 4>(6), filled<4, 5>(7));
  check<"bhid,bhjd->bhij">(filled<2, 2, 3, 4>(8), filled<2, 2, 5, 4>(9));
  check<"bij,kij->bk">(filled<2, 3, 4>(6), filled<5, 3, 4>(7));
  check<"jib,bkj->kib">(filled<4, 3, 2>(6), filled<2, 5, 4>(7));
  check<"ii,ij->j">(filled<3, 3>(6), filled<3, 4>(7));
  // Without an arrow: the letters that stand once, in alphabetical order.
  const real<3, 5> product = tn::einsum<"ij,jk">(a, b);
  CHECK(product(1, 2) == Approx(tn::eval(matmul(a, b))(1, 2)));
}

TEST_CASE("einsum of three and four operands") {
  check<"ij,jk,kl->il">(filled<2, 3>(1), filled<3, 4>(2), filled<4, 2>(3));
  check<"i,ij,j->">(filled<3>(1), filled<3, 4>(2), filled<4>(3));
  check<"bi,bij,bj->b">(filled<2, 3>(1), filled<2, 3, 4>(2), filled<2, 4>(3));
  check<"i,j,k,l->lkji">(filled<2>(1), filled<3>(2), filled<2>(3), filled<2>(4));
  check<"ab,bc,cd,da->">(filled<2, 3>(1), filled<3, 2>(2), filled<2, 3>(3), filled<3, 2>(4));
}

TEST_CASE("einsum: run-time extents are compared when a call begins, and empty ones give sums of nothing") {
  check<"bij,bjk->bik">(filled<tn::dyn, 3, 4>(1, 3), filled<tn::dyn, 4, 2>(2, 3));
  check<"ij,kj->ik">(filled<tn::dyn, 4>(1, 3), filled<tn::dyn, 4>(2, 5));
  check<"ij,ik->jk">(filled<tn::dyn, 4>(1, 6), filled<tn::dyn, 2>(2, 6));
  check<"ij,ik->jk">(filled<tn::dyn, 4>(1, 0), filled<tn::dyn, 2>(2, 0));
  const auto x = filled<tn::dyn, 4>(1, 3);
  const auto y = filled<tn::dyn, 4>(2, 5);
  constexpr auto f = tn::compile([](auto a, auto b) { return tn::einsum<"ij,ij->j">(a, b); });
  CHECK_THROWS_AS(f(x, y), tn::shape_error);
}

TEST_CASE("einsum is one product where it is one, and has derivatives") {
  constexpr auto product = tn::compile([](auto a, auto b) { return tn::einsum<"bij,bjk->bik">(a, b); });
  const auto a = filled<2, 3, 4>(1);
  const auto b = filled<2, 4, 5>(2);
  std::ostringstream plan;
  plan << product.plan(a, b);
  CHECK((plan.str().find("matmul %0, %1 : float64[2,3,5]") != std::string::npos && plan.str().find("reshape") == std::string::npos && plan.str().find("permute") == std::string::npos));
  constexpr auto loss = [](auto a, auto b) { return sum(sin(tn::einsum<"bij,bjk->kb">(a, b))); };
  judged::agrees_with_reference("gradient", tn::grad<0, 1>(loss).function, a, b);
  const auto [g, h] = tn::grad<0, 1>(loss)(a, b);
  const auto move = filled<2, 3, 4>(3);
  const double step = 1e-6;
  const real<2, 3, 4> up = a + step * move, down = a - step * move;
  CHECK(tn::eval(sum(g * move)).item() == Approx((tn::compile(loss)(up, b).item() - tn::compile(loss)(down, b).item()) / (2 * step)).epsilon(1e-7));
  const auto each = tn::vmap([](auto x, auto y) { return tn::einsum<"ij,jk->ik">(x, y); })(a, b), all = product(a, b);
  for (std::int64_t e = 0; e < all.size(); ++e) CHECK(each.data()[e] == Approx(all.data()[e]));
}
