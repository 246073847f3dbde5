// SPDX-License-Identifier: BSL-1.0
// Random numbers from keys by the kernels of a GPU, on the host. The numbers become integers, so that each bit of them counts.
#include "check.hpp"

using namespace by_kernels;

TEST_CASE("a key gives a GPU the bits that it gives the reference") {
  const auto key = tn::random_key(5);
  check([](auto k) { return tn::cast<std::int32_t>(tn::uniform(tn::shape<7, 33>{}, k) * 8388608.0f); }, key);
  check([](auto k) { return tn::cast<std::int64_t>(tn::uniform<double>(tn::shape<5, 9>{}, k) * 0x1p52); }, key);
  check([](auto k) { return tn::split_key<5>(tn::fold_in(k, 3)); }, key);
  check(tn::value_and_grad<0>([](auto x, auto k) { return sum(square(tn::dropout(x, 0.5, k)) * tn::normal_like(x, tn::fold_in(k, 1))); }),
        some<float, 20, 12>(), key);
  check([](auto k) { return std::tuple{tn::exponential(tn::shape<7, 33>{}, k), tn::laplace<double>(tn::shape<5, 9>{}, k), tn::cauchy(tn::shape<5, 9>{}, k)}; }, key);
  check([](auto k, auto x) { return tn::categorical(k, x); }, key, some<float, 20, 12>());
}
