// SPDX-License-Identifier: BSL-1.0
// Laws of bfloat16: each operation is rounded once, so compiled code, eager code and the reference have the same bits where a float has.
#include "agree.hpp"

using namespace laws;
using tn::bfloat16;

TEST_CASE("arithmetic of bfloat16 has the bits of the reference") {
  const auto x = filled<bfloat16>(shape<3, 37>{}, 1);
  const auto y = filled<bfloat16>(shape<37>{}, 2);
  agrees_exactly(tn::compile([](auto a, auto b) {
                   return std::tuple{a + b, a - b * a, a * b, a / b, -a, abs(a), sqrt(abs(a)), a * b + b, (a + b) * (a - b), square(a) / 3.0, maximum(a, b), minimum(a, b), relu(a)};
                 }),
                 x, y);
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{a < b, where(a < b, a, b), where(a == b, a * 0.1, b), sign(a), floor(a * 9.0), round(a), trunc(b)}; }), x, y);
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{((a + 1.0) + b) + 0.3, a * 0.1, a / 3.0, 1.0 / a, clamp(a, -0.3, 0.7), lerp(a, b, 0.25)}; }), x, y);
}

TEST_CASE("functions of bfloat16 agree with the reference") {
  const auto x = filled<bfloat16>(shape<3, 37>{}, 3);
  agrees(tn::compile([](auto a) { return std::tuple{exp(a), log(abs(a)), tanh(a), sin(a) * cos(a), sigmoid(a), pow(abs(a), 1.5), erf(a), gelu(a)}; }), 4.0, x);
}

TEST_CASE("casts from and to bfloat16 have the bits of the reference") {
  const auto x = filled<bfloat16>(shape<5, 11>{}, 4, -300.0, 300.0);
  const auto f = filled<float>(shape<5, 11>{}, 5);
  const auto d = filled<double>(shape<5, 11>{}, 6);
  const auto i = filled<std::int64_t>(shape<5, 11>{}, 7, -1e6, 1e6);
  agrees_exactly(tn::compile([](auto a) {
                   return std::tuple{tn::cast<float>(a), tn::cast<double>(a), tn::cast<std::int32_t>(a), tn::cast<std::int64_t>(a * 3.0), tn::cast<bool>(a), tn::cast<float>(a * a)};
                 }),
                 x);
  agrees_exactly(tn::compile([](auto a, auto b, auto c) {
                   return std::tuple{tn::cast<bfloat16>(a), tn::cast<bfloat16>(b), tn::cast<bfloat16>(c), tn::cast<bfloat16>(a < b), tn::cast<float>(tn::cast<bfloat16>(a)) * a};
                 }),
                 f, d, i);
}

TEST_CASE("mixed types: bfloat16 yields to float, and takes integers") {
  const auto x = filled<bfloat16>(shape<4, 9>{}, 8);
  const auto f = filled<float>(shape<9>{}, 9);
  const auto i = filled<std::int32_t>(shape<4, 1>{}, 10, -9.0, 9.0);
  agrees(tn::compile([](auto a, auto b, auto c) { return std::tuple{a + b, a * c, a + 1, a * 2.5, b * c, exp(a) + b, a * bfloat16(1.5f)}; }), 2.0, x, f, i);
  const auto y = tn::eval(x + f);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(y)>, float>);
  const auto z = tn::eval(x * i + 0.5);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(z)>, bfloat16>);
  const auto w = tn::eval(x * bfloat16(2.0f));
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(w)>, bfloat16>);
}

TEST_CASE("movement of bfloat16 has the bits of the reference") {
  const auto x = filled<bfloat16>(shape<6, 10>{}, 11);
  const auto y = filled<bfloat16>(shape<10, 6>{}, 12);
  const auto at = filled<std::int32_t>(shape<7>{}, 13, 0.0, 6.0);
  agrees_exactly(tn::compile([](auto a, auto b) {
                   return std::tuple{transpose(a) * b, transpose(a), tn::reshape<4, 15>(transpose(a) + b), tn::slice<1, 8, 4, -2>(a), tn::concat<0>(transpose(a), b),
                                     tn::concat<1>(transpose(a), b * 2.0), tn::pad<0, 1, 2>(a), tn::flip<1>(a), tn::slice<1, 1, 4, 2>(a) * 3.0, tn::stack<0>(a, a + 1.0)};
                 }),
                 x, y);
  agrees_exactly(tn::compile([](auto a, auto i) { return std::tuple{tn::gather<0>(a, i), tn::gather<0>(a * 2.0, i)}; }), x, at);
}

TEST_CASE("sums and products of bfloat16 are rounded once") {
  const auto x = filled<bfloat16>(shape<33, 70>{}, 14);
  const auto y = filled<bfloat16>(shape<70, 20>{}, 15);
  agrees(tn::compile([](auto a, auto) {
           return std::tuple{sum(a), sum(a, tn::axis<0>), sum(a, tn::axis<1>), mean(a), amax(a), amin(a, tn::axis<0>), amax(a, tn::axis<1>), sum(square(a), tn::axis<1>), argmax(a, tn::axis<1>)};
         }),
         1.0, x, y);
  agrees(tn::compile([](auto a, auto b) { return std::tuple{matmul(a, b), matmul(a, b) + 1.0, relu(matmul(a, b)), matmul(transpose(b), transpose(a))}; }), 1.0, x, y);
  agrees(tn::compile([](auto a, auto b) { return std::tuple{softmax(a, tn::axis<1>), log_softmax(a, tn::axis<1>), logsumexp(b, tn::axis<1>), var(a, tn::axis<1>), cumsum(a, tn::axis<1>)}; }), 4.0, x, y);
}

TEST_CASE("gradients of bfloat16 have its type") {
  const auto x = filled<bfloat16>(shape<9, 12>{}, 16);
  const auto w = filled<bfloat16>(shape<12, 5>{}, 17);
  const auto f = filled<float>(shape<12, 5>{}, 18);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(tanh(matmul(a, b)))); }), 8.0, x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(matmul(tn::cast<float>(a), b))); }), 8.0, x, f);
  const auto [value, gradients] = tn::value_and_grad<0>([](auto a) { return sum(a * a); })(x);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<std::remove_cvref_t<decltype(gradients)>>, bfloat16>);
}

TEST_CASE("loops carry bfloat16") {
  const auto x = filled<bfloat16>(shape<8, 5>{}, 19);
  const auto h = filled<bfloat16>(shape<5>{}, 20);
  agrees(tn::compile([](auto start, auto xs) {
           return tn::scan([](auto carry, auto a) { return std::pair{carry * 0.5 + a, carry - a}; }, start, xs);
         }),
         1.0, h, x);
  agrees(tn::compile([](auto start) { return tn::while_loop([](auto s) { return amax(s) < 100.0; }, [](auto s) { return s * 1.25 + 1.0; }, start); }), 1.0, h);
  agrees(tn::value_and_grad<0>([](auto start, auto xs) {
           return sum(std::get<0>(tn::scan([](auto carry, auto a) { return std::pair{carry * 0.5 + a, carry * a}; }, start, xs)));
         }),
         4.0, h, x);
}

TEST_CASE("run-time extents and strided arguments of bfloat16 agree with the reference") {
  for (const std::int64_t n : {0, 1, 7, 16, 33, 100}) {
    const auto x = filled<bfloat16>(shape<tn::dyn, 3>{}, 21, n);
    agrees_exactly(tn::compile([](auto a) { return std::tuple{a * a + 0.5, tn::cast<float>(a), transpose(a) * 2.0}; }), x);
  }
}

namespace {
/// The largest error of results in bfloat16, in units of the last place, against results in double of the same arguments.
template <class F, class... X>
double error_of(F f, const X&... x) {
  const auto got = tn::cast<double>(tn::eval(f(x...)));
  const auto wanted = tn::eval(f(tn::eval(tn::cast<double>(x))...));
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(tn::eval(f(x...)))>, bfloat16>);
  const auto error = tn::eval(abs(got - wanted) / abs(wanted));
  return tn::eval(amax(error)).item() / 0x1p-8;
}
}  // namespace

TEST_CASE("an operation that is composed of others rounds to bfloat16 once") {
  const auto x = filled<bfloat16>(shape<3, 40>{}, 22);
  const auto g = filled<bfloat16>(shape<40>{}, 23);
  const auto q = filled<bfloat16>(shape<2, 9, 8>{}, 24);
  CHECK(error_of([](const auto& a) { return softmax(a, tn::axis<1>); }, x) <= 1.001);
  CHECK(error_of([](const auto& a) { return log_softmax(a, tn::axis<1>); }, x) <= 1.001);
  CHECK(error_of([](const auto& a) { return logsumexp(a, tn::axis<1>); }, x) <= 1.001);
  CHECK(error_of([](const auto& a) { return var(a, tn::axis<1>); }, x) <= 1.001);
  CHECK(error_of([](const auto& a) { return mean(a); }, x) <= 1.001);
  CHECK(error_of([](const auto& a, const auto& b) { return layer_norm(a, b, b); }, x, g) <= 1.01);
  CHECK(error_of([](const auto& a) { return gelu(a); }, x) <= 1.001);
  CHECK(error_of([](const auto& a) { return attention(a, a, a); }, q) <= 1.01);
  CHECK(error_of([](const auto& a) { return cumsum(abs(a), tn::axis<1>); }, x) <= 1.001);
}

TEST_CASE("factorizations in bfloat16 are computed in float") {
  const auto a = filled<bfloat16>(shape<4, 4>{}, 25);
  const auto b = filled<bfloat16>(shape<4, 2>{}, 26);
  const auto identity = tn::eye<bfloat16>(shape<4, 4>{});
  agrees(tn::compile([](auto m, auto r, auto one) { return std::tuple{solve(m, r), cholesky(matmul(m, transpose(m)) + one), inverse(matmul(m, transpose(m)) + one), det(m + one)}; }), 4.0, a, b, identity);
  agrees(tn::value_and_grad<0, 1>([](auto m, auto r) { return sum(solve(m, r)); }), 4.0, a, b);
  const auto q = filled<bfloat16>(shape<2, 9, 8>{}, 27);
  agrees(tn::value_and_grad<0>([](auto m) { return sum(attention(m, m, m) * m); }), 4.0, q);
}

TEST_CASE("eager bfloat16: expressions, updates in place, backward") {
  auto x = filled<bfloat16>(shape<50>{}, 28);
  const auto y = filled<bfloat16>(shape<50>{}, 29);
  const auto compiled = tn::compile([](auto a, auto b) { return a * b + a; })(x, y);
  const auto eager = tn::eval(x * y + x);
  CHECK(std::memcmp(compiled.data(), eager.data(), 100) == 0);
  x += y;
  x *= 0.5;
  x[3] = bfloat16(7);
  CHECK(float(x[3].item()) == 7.0f);
  auto w = y.clone().requires_grad_();
  sum(square(w) * 3.0).backward();
  for (int i = 0; i < 50; ++i) CHECK(float(w.grad()[i].item()) == float(bfloat16(6 * float(y[i].item()))));
}
