// SPDX-License-Identifier: BSL-1.0
// Arithmetic of bfloat16 against ml_dtypes, bit for bit; of a NaN only that it is one.
#include <algorithm>
#include <cmath>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "data_bfloat16.hpp"

namespace tn = tenure;
namespace wanted = golden_bfloat16;
using tn::bfloat16;

namespace {
constexpr std::int64_t count = std::size(wanted::a);
using numbers = tn::tensor<bfloat16, tn::shape<count>>;

numbers of_bits(const std::uint16_t (&bits)[count]) {
  numbers x;
  std::transform(std::begin(bits), std::end(bits), tn::as_span(x).begin(), [](std::uint16_t b) { return bfloat16::from_bits(b); });
  return x;
}

template <class X>
void check(const char* name, const X& got, const std::uint16_t (&bits)[count]) {
  INFO(name);
  for (std::int64_t i = 0; i < count; ++i) {
    const bfloat16 x = got(i), y = bfloat16::from_bits(bits[i]);
    INFO("element " << i << ": " << float(x) << " where ml_dtypes has " << float(y));
    CHECK((std::isnan(float(y)) ? std::isnan(float(x)) : x.bits() == y.bits()));
  }
}

template <class Run>
void check_all(Run run) {
  const numbers a = of_bits(wanted::a), b = of_bits(wanted::b);
  const auto r = run([](auto x, auto y) {
    return std::tuple{x + y, x - y, x * y, x / y, x * y + x, sqrt(abs(x)), -x, maximum(x, y), minimum(x, y), floor(x), x * (1.0 / 3), tn::cast<bfloat16>(tn::cast<float>(x) * 1.001f)};
  }, a, b);
  check("sum", std::get<0>(r), wanted::sum);
  check("difference", std::get<1>(r), wanted::difference);
  check("product", std::get<2>(r), wanted::product);
  check("quotient", std::get<3>(r), wanted::quotient);
  check("product and sum", std::get<4>(r), wanted::product_and_sum);
  check("root", std::get<5>(r), wanted::root);
  check("negative", std::get<6>(r), wanted::negative);
  check("larger", std::get<7>(r), wanted::larger);
  check("smaller", std::get<8>(r), wanted::smaller);
  check("whole", std::get<9>(r), wanted::whole);
  check("third", std::get<10>(r), wanted::third);
  check("from float", std::get<11>(r), wanted::from_float);
}
}  // namespace

TEST_CASE("compiled arithmetic of bfloat16 has the bits of ml_dtypes") {
  check_all([](auto f, const auto&... x) { return tn::compile(f)(x...); });
}

TEST_CASE("eager arithmetic of bfloat16 has the bits of ml_dtypes") {
  const numbers a = of_bits(wanted::a), b = of_bits(wanted::b);
  check("product and sum", tn::eval(a * b + a), wanted::product_and_sum);
  check("quotient", tn::eval(a / b), wanted::quotient);
}
