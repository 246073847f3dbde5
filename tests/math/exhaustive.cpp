// SPDX-License-Identifier: BSL-1.0
// Hidden: every float through every function, about a minute a function. TENURE_STRIDE=<n> takes every n-th.
#include "accuracy.hpp"

#include <cstdlib>

TEST_CASE("every float is within 2 ulp", "[.exhaustive]") {
  using namespace math_test;
  using P = m::packet_of<float>;
  const char* text = std::getenv("TENURE_STRIDE");
  const std::uint64_t stride = text ? std::strtoull(text, nullptr, 10) : 1;
  each_function<P>([&](const char* name, auto f, auto truth, double, double) {
    worst all;
    std::vector<float> block;
    for (std::uint64_t bits = 0; bits < (std::uint64_t(1) << 32); bits += stride) {
      block.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      if (block.size() == 65536 || bits + stride >= (std::uint64_t(1) << 32)) {
        const worst part = measure<P>(f, truth, block);
        if (!(part.ulp <= all.ulp)) all = part;
        block.clear();
      }
    }
    report(name, "f32 every", all, 2.0);
  });
}
