// SPDX-License-Identifier: BSL-1.0
// Jacobians of functions that read their argument by parts, against the tangents of single directions, which know of no parts.
#include "law.hpp"

#include <limits>

namespace tn = tenure;

namespace {

template <auto... E>
using array = tn::tensor<double, tn::shape<E...>>;

/// Column k of a Jacobian is the tangent in the direction of element k.
template <class F, class X>
void columns_are_tangents(const char* what, F f, const X& x) {
  INFO(what);
  const auto forward = judged::interpreted(tn::jacfwd(f).function, x)[0], reverse = judged::interpreted(tn::jacrev(f).function, x)[0], cheaper = judged::interpreted(tn::jacobian(f).function, x)[0];
  const std::int64_t columns = x.size(), rows = forward.size() / columns;
  for (std::int64_t k = 0; k < columns; ++k) {
    X direction = x.clone();
    for (std::int64_t i = 0; i < columns; ++i) tn::as_span(direction)[static_cast<std::size_t>(i)] = i == k ? 1 : 0;
    const auto tangent = judged::interpreted(tn::jvp(f).function, x, direction)[1];
    for (std::int64_t i = 0; i < rows; ++i) {
      INFO("row " << i << " column " << k);
      for (const auto* j : {&forward, &reverse, &cheaper}) CHECK((*j)[i * columns + k] == Approx(tangent[i]).epsilon(1e-12).margin(1e-14));
    }
  }
  const auto compiled = tn::jacobian(f)(x);
  for (std::int64_t i = 0; i < rows * columns; ++i) CHECK(tn::as_span(compiled)[static_cast<std::size_t>(i)] == Approx(cheaper[i]).epsilon(1e-12).margin(1e-14));
}

constexpr auto turn = [](auto angle) { return tn::stack<0>(tn::stack<0>(cos(angle), -sin(angle)), tn::stack<0>(sin(angle), cos(angle))); };
// Four links one behind the other: link k moves with the angles before it.
constexpr auto chain = [](auto x) {
  const auto first = turn(x(0)), second = matmul(first, turn(x(1))), third = matmul(second, turn(x(2))), fourth = matmul(third, turn(x(3)));
  return tn::stack<0>(first[0], second[0], third[0], fourth[0]);
};
constexpr auto last_link = [](auto x) { return matmul(matmul(matmul(turn(x(0)), turn(x(1))), turn(x(2))), turn(x(3)))[0]; };

const array<8> x8 = {0.3, -0.8, 1.1, 0.5, -0.2, 0.9, -1.3, 0.7};
const array<4> x4 = {0.3, -0.8, 1.1, 0.5};

}  // namespace

TEST_CASE("columns of a Jacobian of parts are tangents: chains, neighbours, gaps and overlaps") {
  columns_are_tangents("a chain", chain, x4);
  columns_are_tangents("its last link", last_link, x4);
  columns_are_tangents("parts of two", [](auto x) { return sin(x.at(tn::range<0, 2>())) * x.at(tn::range<6, 8>()) - x.at(tn::range<2, 4>()) / exp(x.at(tn::range<4, 6>())); }, x8);
  columns_are_tangents("overlaps", [](auto x) { return x.at(tn::range<0, 3>()) * x.at(tn::range<1, 4>()) + x.at(tn::range<2, 5>()) * x(7); }, x8);
  columns_are_tangents("in another order", [](auto x) { return tn::stack<0>(x(7) * x(0), x(3) - x(2), x(6) + x(1), where(x(4) > 0.0, x(4), x(5)), 2.0 - x(5)); }, x8);
  columns_are_tangents("one element", [](auto x) { return tn::expand<3>(exp(x(5))); }, x8);
  columns_are_tangents("parts and the whole", [](auto x) { return x.at(tn::range<2, 4>()) * sum(x * x); }, x8);
}

TEST_CASE("columns of a Jacobian of parts are tangents: arrays of several axes, and operations that take all samples") {
  const auto x = x8.reshape<2, 4>().clone();
  columns_are_tangents("rows", [](auto x) { return matmul(tn::reshape<2, 2>(x[0]), tn::reshape<2, 2>(sin(x[1]))) + x[1].at(tn::range<1, 3>()); }, x);
  columns_are_tangents("columns", [](auto x) { return tn::select<1, 0>(x) * tn::select<1, 3>(x); }, x);
  columns_are_tangents("pieces of rows", [](auto x) { return tn::concat<0>(x[0].at(tn::range<0, 2>()) * 2.0, x[1].at(tn::range<1, 2>()), tn::reshape<2>(x[1].at(tn::range<2, 4>()))); }, x);
  columns_are_tangents("reductions", [](auto x) { return tn::stack<0>(sum(exp(x[0])), amax(x[1]), sum(tn::cumsum(x[0], tn::axis<0>) * x[1])); }, x);
  columns_are_tangents("a loop", [](auto x) { return tn::fori_loop(3, [](auto, auto c) { return tanh(c * 1.5); }, x.at(tn::range<2, 4>())) * x(1); }, x8);
  columns_are_tangents("a solve", [](auto x) { return tn::solve(tn::reshape<2, 2>(x.at(tn::range<0, 4>())), x.at(tn::range<4, 6>())) + x.at(tn::range<6, 8>()); }, x8);
}

TEST_CASE("Law: a sample that an element of the argument does not reach is 0, also where a value on the way is infinite or NaN.") {
  constexpr auto f = [](auto x) { return tn::stack<0>(x(0) / (x(1) * 0.0), log(x(2) * 0.0) * x(3), x(3)); };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const array<3, 4>& j : {tn::jacfwd(f)(x4), tn::jacobian(f)(x4)}) {
    CHECK((j(0, 0) == -infinity && std::isnan(j(0, 1)) && j(0, 2) == 0 && j(0, 3) == 0));
    CHECK((j(1, 0) == 0 && j(1, 1) == 0 && std::isnan(j(1, 2)) && j(1, 3) == -infinity));
    CHECK((j(2, 0) == 0 && j(2, 1) == 0 && j(2, 2) == 0 && j(2, 3) == 1));
  }
}

TEST_CASE("parts save operations, and jacobian() takes the sweep that saves more") {
  using one = decltype(tn::compile(last_link).plan(x4));
  using forward = decltype(tn::jacfwd(last_link).plan(x4));
  STATIC_REQUIRE(forward::flops() < 5 * one::flops());  // four directions, of value and tangent, would be eight times as many
  // Two rows and four columns: half of the columns are 0 on average, so columns are as cheap as rows.
  CHECK(decltype(tn::jacobian(last_link).plan(x4))::flops() == forward::flops());
  constexpr auto whole = [](auto x) { return (sin(x) * sum(x)).at(tn::range<0, 2>()); };
  CHECK(decltype(tn::jacobian(whole).plan(x4))::flops() == decltype(tn::jacrev(whole).plan(x4))::flops());
}
