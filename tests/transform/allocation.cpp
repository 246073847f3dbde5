// SPDX-License-Identifier: BSL-1.0
// The steady state allocates nothing: every way to the heap is counted, not operator new alone.
#include "../catch.hpp"

#include <cstdlib>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

#include "../counted_heap_hooks.hpp"

namespace tn = tenure;

namespace {
template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, float, tn::shape<200, 150>>, w1), (tn::param<Kind, float, tn::shape<150>>, b1),
                           (tn::param<Kind, float, tn::shape<150, 10>>, w2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2); }
};
}  // namespace

TEST_CASE("the counter counts") {
#if TENURE_TEST_COUNTS_MALLOC
  const std::size_t before = allocations;
  void* volatile p = std::malloc(10);
  std::free(p);
  p = std::aligned_alloc(64, 64);
  std::free(p);
  CHECK(allocations == before + 2);
#endif
}

TEST_CASE("a training step allocates nothing, GEMM packing included") {
  tn::engine random(3);
  auto model = tn::init<network>(random);
  constexpr auto loss = [](auto m, auto x, auto y) { return cross_entropy(m(x), y); };
  const auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1f, .momentum = 0.9f});
  auto state = step.rule.init(model);
  const auto x = tn::uniform<float>(tn::shape<64, 200>{}, random);
  const tn::tensor<std::int32_t, tn::shape<64>> y;
  CHECK(counted([&] { step(model, state, x, y); }) == 0);
}

TEST_CASE("a step on several threads allocates nothing either: rows and columns of blocks, packing, jobs") {
  const tn::thread_pool pool(3, 0);
  tn::engine random(3);
  auto model = tn::init<network>(random);
  constexpr auto loss = [](auto m, auto x, auto y) { return cross_entropy(m(x), y); };
  const auto step = tn::train_step(loss, tn::optim::adam{}, pool);
  auto state = step.rule.init(model);
  const auto x = tn::uniform<float>(tn::shape<3000, 200>{}, random);
  const tn::tensor<std::int32_t, tn::shape<3000>> y;
  CHECK(counted([&] { step(model, state, x, y); }) == 0);

  tn::tensor<float, tn::shape<tn::dyn, tn::dyn>> m(900, 600), rows(900, 600);
  tn::tensor<float, tn::shape<tn::dyn>> columns(600);
  const auto f = tn::compile([](auto a) { return std::tuple{softmax(a, tn::axis<1>), sum(exp(a), tn::axis<0>)}; }, pool);
  CHECK(counted([&] { f.into(rows, columns)(m); }) == 0);
}

TEST_CASE("into() allocates nothing, with run-time extents too") {
  tn::tensor<double, tn::shape<tn::dyn, 40>> x(30), w(40), out(30);
  constexpr auto f = tn::compile([](auto a, auto b) { return tanh(matmul(a, b)) + a; });
  CHECK(counted([&] { f.into(out)(x, w); }) == 0);
}

TEST_CASE("eager gradients take their memory from the pool") {
  auto w = tn::variable<float, tn::shape<100>>();
  const tn::tensor<float, tn::shape<100>> x;
  CHECK(counted([&] {
          w.zero_grad();
          tn::tensor h = tanh(w * x);
          sum(h * w).backward();
        }) == 0);
}

TEST_CASE("a compiled function called with variables takes its memory from the pool") {
  auto w = tn::variable<float, tn::shape<100>>();
  constexpr auto f = tn::compile([](auto p) { return std::tuple{tanh(p), sum(p * p)}; });
  CHECK(counted([&] {
          w.zero_grad();
          const auto [h, squares] = f(w);
          (sum(h) * squares).backward();
        }) == 0);
}
