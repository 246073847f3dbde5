// SPDX-License-Identifier: BSL-1.0
// index_add on a GPU that sorts by Thrust, against the CPU's.
#include <tenure/cpu.hpp>
#include <tenure/cuda_thrust.hpp>
#include <tenure/print.hpp>

#include "../../catch.hpp"

namespace tn = tenure;

TEST_CASE("cuda: updates of rows that very many indices name are added in their order") {
  constexpr int rows = 1000;
  for (const std::int64_t n : {std::int64_t{1} << 15, std::int64_t{100'000}}) {  // by merging, by Thrust
    tn::engine random(7);
    const auto x = tn::uniform<float>(tn::shape<rows, 3>{}, random, -1.f, 1.f);
    const auto updates = tn::uniform<float>(tn::shape<tn::dyn, 3>{}, random, -1.f, 1.f, n);
    tn::tensor<std::int64_t, tn::shape<tn::dyn>> indices(n);
    std::int64_t state = 1;
    for (std::int64_t& i : tn::as_span(indices)) i = (state = (state * 48271) % 2147483647) % rows;
    constexpr auto add = tn::compile([](auto to, auto at, auto from) { return tn::index_add<0>(to, at, from); });
    const auto here = add(x, indices, updates);
    const auto there = add(x.to(tn::cuda), indices.to(tn::cuda), updates.to(tn::cuda)), again = add(x.to(tn::cuda), indices.to(tn::cuda), updates.to(tn::cuda));
    const auto back = there.to(tn::cpu), back_again = again.to(tn::cpu);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < 3; ++c) {
        CHECK(back(r, c) == back_again(r, c));
        CHECK(back(r, c) == Approx(here(r, c)).margin(1e-4));
      }
  }
}
