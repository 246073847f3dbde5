// SPDX-License-Identifier: BSL-1.0
// 21 small compiled functions of small matrices and vectors.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
template <int N>
struct functions {
  using matrix = array<N, N>;
  using vector = array<N>;
  static auto product(const matrix& a, const matrix& b) { return tn::compile([](auto a, auto b) { return matmul(a, b); })(a, b); }
  static auto by_vector(const matrix& a, const vector& v) { return tn::compile([](auto a, auto v) { return matmul(a, v); })(a, v); }
  static auto sum_of(const matrix& a, const matrix& b) { return tn::compile([](auto a, auto b) { return 2.0 * a + b; })(a, b); }
  static auto dot(const vector& v, const vector& w) { return tn::compile([](auto v, auto w) { return sum(v * w); })(v, w); }
  static auto solved(const matrix& a, const vector& v) { return tn::compile([](auto a, auto v) { return tn::solve(a, v); })(a, v); }
  static auto form(const matrix& a, const vector& v) { return tn::compile([](auto a, auto v) { return sum(v * matmul(a, v)); })(a, v); }
  static auto unit(const vector& v) { return tn::compile([](auto v) { return v / norm(v); })(v); }
};
template <int N>
auto all(const array<N, N>& a, const array<N, N>& b, const array<N>& v, const array<N>& w) {
  using f = functions<N>;
  return std::tuple{f::product(a, b), f::by_vector(a, v), f::sum_of(a, b), f::dot(v, w), f::solved(a, v), f::form(a, v), f::unit(v)};
}
}  // namespace

auto of_3(const array<3, 3>& a, const array<3, 3>& b, const array<3>& v, const array<3>& w) { return all<3>(a, b, v, w); }
auto of_4(const array<4, 4>& a, const array<4, 4>& b, const array<4>& v, const array<4>& w) { return all<4>(a, b, v, w); }
auto of_6(const array<6, 6>& a, const array<6, 6>& b, const array<6>& v, const array<6>& w) { return all<6>(a, b, v, w); }
