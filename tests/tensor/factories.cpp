// SPDX-License-Identifier: BSL-1.0
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/storage/saved.hpp>
#include <tenure/tensor/random.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "../catch.hpp"

using namespace tenure;

// Law: the result shares no memory, and its version is 0.
TEST_CASE("zeros, ones, full, eye") {
  CHECK(zeros<float>(shape<3, 3>{})(2, 2) == 0);
  CHECK(ones<std::int32_t>(shape<dyn, 3>{}, 2)(1, 2) == 1);
  CHECK(full<double>(shape<dim("n"), 2>{}, 2.5, 3)(2, 1) == 2.5);
  CHECK(full<bool>(shape<>{}, true).item());
  const auto e = eye<float>(shape<2, 3>{});
  CHECK(e(0, 0) == 1);
  CHECK(e(1, 1) == 1);
  CHECK(e(0, 1) == 0);
  CHECK(e(1, 2) == 0);
  CHECK(eye<double>(shape<dyn, dyn>{}, 4, 4)(3, 3) == 1);
  CHECK(ones<float>(shape<2>{}).version() == 0);
  STATIC_REQUIRE(std::is_same_v<decltype(zeros(shape<3>{})), tensor<float, shape<3>>>);
}

TEST_CASE("arange and linspace") {
  const auto a = arange<std::int64_t>(5);
  CHECK(a.size() == 5);
  CHECK(a(4) == 4);
  const auto b = arange<double>(1, 2, 0.25);
  CHECK(b.size() == 4);
  CHECK(b(3) == 1.75);
  const auto c = arange<std::int32_t>(5, -1, -2);
  CHECK(c.size() == 3);
  CHECK(c(2) == 1);
  CHECK(arange<float>(3, 3).size() == 0);
  CHECK(arange<float>(0.5, 0.5, 0.25).size() == 0);
  CHECK(arange<double>(2.5, 2.5, -1).size() == 0);
  CHECK_THROWS_AS(arange<float>(3, 4, -1), shape_error);
  CHECK_THROWS_AS(arange<float>(3, 4, 0), shape_error);
  CHECK(arange<float>(shape<6>{})(5) == 5);
  const auto l = linspace<double>(shape<5>{}, 0, 1);
  CHECK(l(0) == 0);
  CHECK(l(1) == 0.25);
  CHECK(l(4) == 1);
  CHECK(linspace<float>(shape<dyn>{}, 2, 3, 1)(0) == 2);
}

TEST_CASE("linspace over more than the range of a double, and between integers beyond 2^53") {
  const auto wide = linspace<double>(shape<5>{}, -1e308, 1e308);
  CHECK(wide(0) == -1e308);
  CHECK(wide(1) == Approx(-5e307));
  CHECK(wide(2) == 0);
  CHECK(wide(4) == 1e308);
  CHECK(linspace<double>(shape<3>{}, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023)(1) == 0);
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const auto whole = linspace<std::int64_t>(shape<dyn>{}, -odd, odd, 3);
  CHECK(whole(0) == -odd);
  CHECK(whole(1) == 0);
  CHECK(whole(2) == odd);
  CHECK(linspace<std::int64_t>(shape<1>{}, odd, 7)(0) == odd);
}

TEST_CASE("the like factories take extents, and the element type unless told") {
  const tensor<float, shape<dyn, 2>> x(3);
  CHECK(ones_like(x).extents() == x.extents());
  STATIC_REQUIRE(std::is_same_v<decltype(zeros_like<std::int64_t>(x)), tensor<std::int64_t, shape<dyn, 2>>>);
  const auto w = variable<float, shape<2>>{1, 2};
  STATIC_REQUIRE(!requires_grad_v<decltype(zeros_like(w))>);
  STATIC_REQUIRE(ownership_of_v<decltype(empty_like(w.detach()))> == ownership::owning);
  CHECK(full_like(w, 3)(1) == 3);
}

// Law: the values depend only on the output of the engine, because the distributions of the standard library are not used, and each element takes a
// fixed number of draws.
TEST_CASE("the engine is xoshiro256++ seeded by splitmix64, and a seed means the same everywhere") {
  engine g(0);
  // The reference implementation's first outputs after splitmix64 from 0.
  CHECK(g() == 0x53175d61490b23dfu);
  CHECK(g() == 0x61da6f3dc380d507u);
  CHECK(g() == 0x5c0fdf91ec9a7bfcu);
  CHECK(engine(1)() != engine(2)());
  engine h(0);
  CHECK(uniform<float>(shape<4>{}, h)(0) == static_cast<float>(0x53175d61490b23dfu >> 40) * 0x1p-24f);
}

TEST_CASE("uniform lies in its interval and has its moments") {
  engine g(3);
  const auto x = uniform<float>(shape<dyn>{}, g, -1.f, 3.f, 100000);
  double mean = 0;
  double square = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    REQUIRE(x(i) >= -1);
    REQUIRE(x(i) < 3);
    mean += x(i) / 1e5;
    square += x(i) * x(i) / 1e5;
  }
  CHECK(std::abs(mean - 1) < 0.02);
  CHECK(std::abs(square - mean * mean - 16.0 / 12) < 0.02);
  std::mt19937 twister(1);
  CHECK(uniform<double>(shape<3>{}, twister, 5.0, 6.0)(2) >= 5);
}

TEST_CASE("normal has its moments and its quantiles") {
  engine g(4);
  const auto x = normal<double>(shape<dyn, 10>{}, g, 2.0, 3.0, 10000);
  const double* const v = x.data();
  double moment[5] = {};
  for (int i = 0; i < 100000; ++i)
    for (int k = 1; k < 5; ++k) moment[k] += std::pow((v[i] - 2) / 3, k) / 1e5;
  CHECK(std::abs(moment[1]) < 0.015);
  CHECK(std::abs(moment[2] - 1) < 0.02);
  CHECK(std::abs(moment[3]) < 0.05);
  CHECK(std::abs(moment[4] - 3) < 0.1);
  // Python's statistics.NormalDist().inv_cdf.
  CHECK(detail::normal_quantile(0.001) == Approx(-3.0902323061678132).epsilon(1e-15));
  CHECK(detail::normal_quantile(0.3) == Approx(-0.52440051270804067).epsilon(1e-15));
  CHECK(detail::normal_quantile(1e-20) == Approx(-9.2623400897984052).epsilon(1e-15));
  CHECK(detail::normal_quantile(0.5) == 0);
}

// Law: both sides see the same elements; const memory gives a read-only tensor; nothing is resized.
TEST_CASE("[P27] borrowed memory is shared both ways") {
  std::vector<double> a{1, -0.5, 3.4};
  auto t = from(a);
  STATIC_REQUIRE(ownership_of_v<decltype(t)> == ownership::aliasing);
  t[0] = 77.0;
  a[1] = 5;
  CHECK(a[0] == 77);
  CHECK(t(1) == 5);
  CHECK(t.data() == a.data());
}

TEST_CASE("[P28] const memory gives a read-only tensor") {
  const std::vector<double> a{1, 2};
  STATIC_REQUIRE(access_of_v<decltype(from(a))> == access::read_only);
  const float raw[3] = {1, 2, 3};
  const auto t = from(std::span(raw));
  STATIC_REQUIRE(std::is_same_v<shape_of_t<decltype(t)>, shape<3>>);
  STATIC_REQUIRE(access_of_v<decltype(t)> == access::read_only);
  CHECK(t(2) == 3);
}

TEST_CASE("from(array) borrows arrays of the language and of the library, whose length is in the type") {
  float raw[] = {1, 2, 3};
  std::array<float, 3> a{1, 2, 3};
  const std::array<float, 3> constant{1, 2, 3};
  auto t = from(raw);
  auto u = from(a);
  STATIC_REQUIRE(std::is_same_v<shape_of_t<decltype(u)>, shape<3>>);
  STATIC_REQUIRE(access_of_v<decltype(from(constant))> == access::read_only);
  t.fill_(5);
  u[1] = 7;
  CHECK(raw[2] == 5);
  CHECK(a[1] == 7);
  CHECK(from(constant)(2) == 3);
}

TEST_CASE("a moved-in vector and a deleter end with the last tensor") {
  auto t = from(std::vector<float>{1, 2, 3})[range(1, 3)];
  CHECK(t(1) == 3);
  int calls = 0;
  {
    auto* const p = static_cast<float*>(std::malloc(6 * sizeof(float)));
    p[5] = 5;
    auto view = from<shape<dyn, 3>>(p, 2, [&calls, p]() noexcept {
      std::free(p);
      ++calls;
    })[1];
    CHECK(calls == 0);
    CHECK(view(2) == 5);
  }
  CHECK(calls == 1);
}

TEST_CASE("borrowing that fails does not call the deleter") {
  alignas(8) unsigned char bytes[16] = {};
  int calls = 0;
  const auto deleter = [&]() noexcept { ++calls; };
  CHECK_THROWS_AS((from<shape<2>>(reinterpret_cast<float*>(bytes + 1), deleter)), ownership_error);
  CHECK_THROWS_AS((from<shape<2>>(static_cast<float*>(nullptr), deleter)), ownership_error);
  CHECK_THROWS_AS((from<shape<dyn>>(reinterpret_cast<float*>(bytes), -2, deleter)), shape_error);
  CHECK(calls == 0);
}

TEST_CASE("[P25] a span is writable where the tensor is, and taking it counts as a write") {
  tensor<float, shape<2, 2>> x{{1, 2}, {3, 4}};
  auto s = as_span(x);
  STATIC_REQUIRE(std::is_same_v<decltype(s), std::span<float>>);
  s[3] = 9;
  CHECK(x(1, 1) == 9);
  CHECK(x.version() == 1);
  const auto& c = x;
  STATIC_REQUIRE(std::is_same_v<decltype(as_span(c)), std::span<const float>>);
  CHECK(as_span(c).size() == 4);
  CHECK(x.version() == 1);
  auto t = x.transpose();
  CHECK_THROWS_AS(as_span(t), ownership_error);
  const detail::saved_storage kept(detail::tensor_access::storage(x));
  CHECK_THROWS_AS(as_span(x), ownership_error);
  CHECK(as_span(c)[0] == 1);
  CHECK(kept.intact());
}

TEST_CASE("the bounds of random numbers may be integers, also before extents") {
  std::mt19937_64 g(3), h(3);
  const auto x = uniform<double>(shape<50>{}, g, -1, 1), y = uniform<double>(shape<50>{}, h, -1.0, 1.0);
  const auto u = uniform(shape<50>{}, g, 0, 0.5f), v = uniform(shape<50>{}, h, 0.0, 0.5);
  const auto n = normal<double>(shape<50>{}, g, 5, 2), m = normal<double>(shape<50>{}, h, 5.0, 2.0);
  const auto o = uniform<double>(shape<dyn>{}, g, 2, 4, 50), p = uniform<double>(shape<dyn>{}, h, 2.0, 4.0, 50);
  const auto q = normal<double>(shape<5, dyn>{}, g, 2, 4.0f, 10), r = normal<double>(shape<5, dyn>{}, h, 2.0, 4.0, 10);
  CHECK(uniform(shape<dyn, dyn>{}, g, 2, 3).size() == 6);
  for (int i = 0; i < 50; ++i) {
    CHECK(x(i) == y(i));
    CHECK(u(i) == v(i));
    CHECK(n(i) == m(i));
    CHECK(o(i) == p(i));
    CHECK(q(i / 10, i % 10) == r(i / 10, i % 10));
  }
}
