// SPDX-License-Identifier: BSL-1.0
// No state is shared behind the scenes: trainers of one type, and a backward() within another.
// Built with ThreadSanitizer.
#include "../catch.hpp"

#include <thread>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

using matrix = tn::tensor<float, tn::shape<256, 512>>;
using leaf = tn::variable<float, tn::shape<256, 512>>;

template <class Kind>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, float, tn::shape<3>>, w), (tn::param<Kind, float, tn::shape<>>, b));
  constexpr auto operator()(auto x) const { return matmul(x, w) + b; }
};
constexpr auto loss = [](auto model, auto x) { return mean(square(model(x) - 1.f)); };

auto new_trainer() { return tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2}); }

/// The losses of some steps of a model of its own.
std::vector<float> losses(const decltype(new_trainer())& step, std::uint64_t seed, int steps) {
  tn::engine random(seed);
  auto model = tn::init<line>(random);
  auto state = step.rule.init(model);
  const auto x = tn::uniform<float>(tn::shape<8, 3>{}, random, -1.f, 1.f);
  std::vector<float> all;
  for (int i = 0; i < steps; ++i) all.push_back(step(model, state, x).item());
  return all;
}

/// Computes `also` once, before its first step runs.
template <class Also>
class nests final : public tn::executor {
 public:
  explicit nests(Also also) : also_(also) {}
  int workers() const override { return 2; }
  void run(int count, block_function function, void* context) override {
    if (!std::exchange(ran, true)) {
      const tn::detail::execution_scope alone(nullptr);
      also_();
    }
    for (int b = 0; b < count; ++b) function(context, b, b % 2);
  }
  bool ran = false;

 private:
  Also also_;
};

}  // namespace

TEST_CASE("two trainers of one type do not disturb each other, on one thread and on two") {
  const std::vector<float> first = losses(new_trainer(), 1, 20), second = losses(new_trainer(), 2, 20);
  SECTION("in turn on one thread") {
    tn::engine r1(1), r2(2);
    auto m1 = tn::init<line>(r1), m2 = tn::init<line>(r2);
    const auto step1 = new_trainer(), step2 = new_trainer();
    auto s1 = step1.rule.init(m1), s2 = step2.rule.init(m2);
    const auto x1 = tn::uniform<float>(tn::shape<8, 3>{}, r1, -1.f, 1.f), x2 = tn::uniform<float>(tn::shape<8, 3>{}, r2, -1.f, 1.f);
    std::vector<float> a, b;
    for (int i = 0; i < 20; ++i) a.push_back(step1(m1, s1, x1).item()), b.push_back(step2(m2, s2, x2).item());
    CHECK(a == first);
    CHECK(b == second);
  }
  const auto on_two_threads = [&](const auto& step1, const auto& step2) {
    std::vector<float> a, b;
    std::thread other([&] { b = losses(step2, 2, 20); });
    a = losses(step1, 1, 20);
    other.join();
    CHECK(a == first);
    CHECK(b == second);
  };
  SECTION("on two threads") { on_two_threads(new_trainer(), new_trainer()); }
  SECTION("on two threads, through one trainer object") {
    const auto step = new_trainer();
    on_two_threads(step, step);
  }
}

TEST_CASE("a backward() within another: over other tensors both are whole") {
  const auto values = [] { return tn::ones<float>(tn::shape<256, 512>{}).mul_(0.25f); };
  leaf outer_leaf = values().requires_grad_(), inner_leaf = values().requires_grad_();
  nests nested([&] { sum(square(inner_leaf)).backward(); });
  {
    const tn::detail::execution_scope scope(&nested);
    const tn::tensor y = tanh(outer_leaf) * 2.f;
    nested.ran = false;
    const tn::tensor z = sum(y * outer_leaf);
    nested.ran = false;
    z.backward();
  }
  CHECK(nested.ran);
  leaf alone = values().requires_grad_();
  const tn::tensor y = tanh(alone) * 2.f;
  const tn::tensor z = sum(y * alone);
  z.backward();
  CHECK(outer_leaf.grad()(3, 5) == alone.grad()(3, 5));
  CHECK(inner_leaf.grad()(3, 5) == 1.5f);  // of three backward(), 2 * 0.25 each
}

TEST_CASE("a backward() within another: over its leaf it throws, and the outer one is whole") {
  leaf w = tn::ones<float>(tn::shape<256, 512>{}).requires_grad_();
  sum(w).backward();
  w.zero_grad();
  const tn::tensor y = tanh(w * 2.f);
  const tn::tensor z = sum(y + w);  // the leaf's first cotangent has arrived when that of y is passed on
  int thrown = 0;
  nests nested([&] {
    try {
      sum(w * w).backward();
    } catch (const tn::ownership_error&) {
      ++thrown;
    }
  });
  {
    const tn::detail::execution_scope scope(&nested);
    z.backward();
  }
  CHECK(thrown == 1);
  leaf alone = tn::ones<float>(tn::shape<256, 512>{}).requires_grad_();
  const tn::tensor same = tanh(alone * 2.f);
  const tn::tensor total = sum(same + alone);
  total.backward();
  CHECK(w.grad()(3, 5) == alone.grad()(3, 5));
  sum(w).backward();  // nothing of the nested one is left behind
  CHECK(w.grad()(3, 5) == alone.grad()(3, 5) + 1.f);
}

TEST_CASE("backward() on two threads over the same leaf and node: each is whole, or throws and changes nothing") {
  using small = tn::variable<float, tn::shape<4>>;
  small w = tn::ones<float>(tn::shape<4>{}).requires_grad_(), v = tn::ones<float>(tn::shape<4>{}).requires_grad_();
  const tn::tensor shared = v * v;
  int ended[2] = {}, refused[2] = {};
  // The second takes the leaves in the other order, so that each may hold what the other needs.
  const auto work = [&](int thread) {
    for (int i = 0; i < 2000; ++i) {
      try {
        if (thread == 0) {
          const tn::tensor y = w * 2.f;
          const tn::tensor z = sum(y * w + shared);
          z.backward(tn::retain_graph);
        } else {
          const tn::tensor y = sum(shared * w);
          y.backward(tn::retain_graph);
        }
        ++ended[thread];
      } catch (const tn::ownership_error&) {
        ++refused[thread];
      }
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  INFO(refused[0] << " and " << refused[1] << " were refused");
  CHECK(ended[0] + refused[0] == 2000);
  CHECK(ended[1] + refused[1] == 2000);
  for (int i = 0; i < 4; ++i) {
    CHECK(w.grad()(i) == 4.f * static_cast<float>(ended[0]) + static_cast<float>(ended[1]));
    CHECK(v.grad()(i) == 2.f * static_cast<float>(ended[0] + ended[1]));
  }
}

TEST_CASE("backward() on two threads from one node that frees its graph: exactly one of them passes") {
  for (int i = 0; i < 200; ++i) {
    tn::variable<float, tn::shape<4>> w = tn::ones<float>(tn::shape<4>{}).requires_grad_();
    const tn::tensor y = exp(w);
    const tn::tensor z = sum(y * y);
    int ended[2] = {};
    const auto work = [&](int thread) {
      try {
        z.backward();
        ++ended[thread];
      } catch (const tn::ownership_error&) {  // it meets the other, or what the other has freed
      }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    REQUIRE(ended[0] + ended[1] == 1);
  }
}
