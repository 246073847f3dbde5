// SPDX-License-Identifier: BSL-1.0
// What docs/10-in-a-service.md promises and no other file of this folder tests: the stack, empty batches, pages of plans.
#include "../catch.hpp"

#include <pthread.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>

#include <tenure/tenure.hpp>
#include <tenure/picture.hpp>
#include <tenure/threads.hpp>

#include "../sanitizers.hpp"

namespace tn = tenure;

namespace {

using matrix = tn::tensor<float, tn::shape<tn::dyn, tn::dyn>>;

struct result {
  matrix a{tn::ones<float>(tn::shape<tn::dyn, tn::dyn>{}, 300, 300)};
  float found = 0;
};

}  // namespace

#if !TENURE_TEST_ADDRESS_SANITIZER
TEST_CASE("a thread with 256 KiB of stack computes a product, on a pool too") {
  result r;
  pthread_attr_t small;
  pthread_attr_init(&small);
  REQUIRE(pthread_attr_setstacksize(&small, 256 << 10) == 0);
  const auto run = [](void* context) -> void* {
    result& to = *static_cast<result*>(context);
    const tn::thread_pool pool(2, 0);
    const auto threads = pool.scope();
    const matrix product = matmul(to.a, to.a);
    to.found = product(299, 299);
    return nullptr;
  };
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &small, run, &r) == 0);
  pthread_join(thread, nullptr);
  CHECK(r.found == 300.f);
}
#endif

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
