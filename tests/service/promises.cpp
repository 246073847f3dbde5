// SPDX-License-Identifier: BSL-1.0
// What docs/10-in-a-service.md promises and no other file of this folder tests: the stack, empty batches, pages of plans.
#include "../catch.hpp"

#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <tenure/tenure.hpp>
#include <tenure/picture.hpp>
#include <tenure/threads.hpp>

#include "../sanitizers.hpp"

namespace tn = tenure;

namespace {

using matrix = tn::tensor<float, tn::shape<tn::dyn, tn::dyn>>;

#if !TENURE_TEST_ADDRESS_SANITIZER && defined(__OPTIMIZE__)
/// The bytes of stack that a thread takes to run f, with what the system keeps there for a thread.
template <class F>
std::size_t stack_of(const F& f) {
  std::vector<std::byte> memory(1 << 20, std::byte{0xa5});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstack(&attributes, memory.data(), memory.size()) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, [](void* of) -> void* { return (*static_cast<const F*>(of))(), nullptr; }, const_cast<F*>(&f)) == 0);
  pthread_join(thread, nullptr);
  return static_cast<std::size_t>(memory.end() - std::find_if(memory.begin(), memory.end(), [](std::byte b) { return b != std::byte{0xa5}; }));
}
#endif

}  // namespace

#if !TENURE_TEST_ADDRESS_SANITIZER && defined(__OPTIMIZE__)
TEST_CASE("a product and its gradient take less than 40 KiB of stack, on a pool too") {
  const auto max_count = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const matrix a(tn::ones<float>(tn::shape<tn::dyn, tn::dyn>{}, m, k)), b(tn::ones<float>(tn::shape<tn::dyn, tn::dyn>{}, k, n)), at(tn::ones<float>(tn::shape<tn::dyn, tn::dyn>{}, k, m));
    float found[3] = {};
    const std::size_t bytes = stack_of([&] {
      found[0] = sum(matmul(a, b)).item();
      found[1] = sum(matmul(tn::transpose(at), b)).item();
      constexpr auto slope = tn::value_and_grad<1>([](auto x, auto y) { return sum(tn::square(matmul(x, y))); });
      found[2] = std::get<0>(slope(a, b)).item();
      const tn::thread_pool pool(2, 0);
      const auto threads = pool.scope();
      found[0] += sum(matmul(a, b)).item();
    });
    const auto size = static_cast<float>(m * n), sums = static_cast<float>(k);
    CHECK(found[0] == 2 * size * sums);
    CHECK(found[1] == size * sums);
    CHECK(found[2] == Approx(size * sums * sums));
    return bytes;
  };
  CHECK(max_count(300, 300, 300) <= 40 << 10);
  CHECK(max_count(1024, 16, 2560) <= 40 << 10);  // transposed it is larger than the caches
  CHECK(max_count(4096, 64, 128) <= 40 << 10);   // its gradient reads the rows of the product from cache
}
#endif

TEST_CASE("another rounding mode: functions are less accurate, no call changes the mode, and afterwards all bits are as before") {
  const auto x = tn::linspace<float>(tn::shape<30001>{}, 0.5f, 8.f);
  const auto results = [&] { return tn::eval(sin(x) + exp(-x) + log(x) + tn::sqrt(x) + tanh(x) / x); };
  const auto same_bits = [](const auto& a, const auto& b) { return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0; };
  const auto expected = results();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    REQUIRE(std::fesetround(mode) == 0);
    const tn::thread_pool pool(3, 0);  // its threads begin in this mode
    const auto rounded = results();
    const auto on_pool = [&] {
      const auto threads = pool.scope();
      return results();
    };
    const auto rounded_on_pool = on_pool();
    const int mode_after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(mode_after == mode);
    CHECK(tn::eval(amax(abs(rounded - expected))).item() < 0.05f);
    CHECK(same_bits(rounded, rounded_on_pool));
    CHECK(same_bits(results(), expected));
    CHECK(same_bits(on_pool(), expected));
  }
}

TEST_CASE("an empty batch: a sum is 0, a mean is NaN, a largest element is refused, and a step on it makes the parameters NaN") {
  const matrix none(0, 3);
  tn::variable<float, tn::shape<3>> w = tn::ones<float>(tn::shape<3>{}).requires_grad_();
  CHECK(sum(none).item() == 0.f);
  CHECK(std::isnan(mean(none).item()));
  CHECK_THROWS_AS(amax(none).item(), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(max(none, tn::axis<0>)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(argmax(none, tn::axis<0>)), tn::shape_error);
  const tn::tensor y = matmul(none, w);
  CHECK(y.size() == 0);
  mean(y).backward();
  CHECK(w.grad()(0) == 0.f);
  tn::tensor<float, tn::shape<3>> v = tn::zeros<float>(tn::shape<3>{});
  v.copy_(mean(none, tn::axis<0>));
  CHECK(std::isnan(v(2)));
}

TEST_CASE("a tensor that no memory can hold throws bad_alloc") {
  CHECK_THROWS_AS(matrix(std::int64_t{1} << 30, std::int64_t{1} << 10), std::bad_alloc);
}

TEST_CASE("write_html refuses a path with a zero byte") {
  constexpr auto f = tn::compile([](auto x) { return x + 1.f; });
  const tn::tensor<float, tn::shape<4>> x;
  CHECK_THROWS_WITH(tn::write_html(f.plan(x), std::string("plan.html\0.old", 14)),
                    "tenure: write_html: plan.html: a zero byte follows in the path, which no file name contains");
}
