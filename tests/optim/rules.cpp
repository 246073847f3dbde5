// SPDX-License-Identifier: BSL-1.0
// What all update rules do: numbers near 1 do not vanish in float32, parameters of run-time extents have states, and integers are not trained.
#include <cmath>
#include <cstdint>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

template <class Kind>
struct with_count {
  BOOST_HANA_DEFINE_STRUCT(with_count, (tn::param<Kind, float, shape<2>>, w), (tn::param<Kind, std::int64_t, shape<2>>, seen));
  constexpr auto operator()(auto x) const { return sum(w * x); }
};

}  // namespace

TEST_CASE("the first step of Adam is the learning rate for every beta") {
  for (const double beta2 : {0.5, 0.999, 0.99999, 0.9999999, 0.99999999}) {
    INFO("beta2 is 1 - " << 1 - beta2);
    const tn::optim::adam rule{.learning_rate = 0.1, .beta2 = beta2};
    tn::tensor<float, shape<1>> p = tn::zeros(shape<1>{});
    const tn::tensor<float, shape<1>> g = tn::ones(shape<1>{});
    auto state = rule.init(p);
    rule.update(p, g, state);
    CHECK(std::abs(p(0) + 0.1f) < 1e-6f);
  }
}

TEST_CASE("parameters of run-time extents have moments of their extents") {
  const auto check = [](const auto& rule) {
    tn::tensor<double, shape<tn::dyn>> p(tn::uninitialized, 3);
    for (int i = 0; i < 3; ++i) p.at(i) = i + 1;
    const tn::tensor<double, shape<tn::dyn>> start = p.clone();
    auto state = rule.init(p);
    for (const auto& moment : state.moments) REQUIRE(moment.size() == 3);
    auto step = tn::train_step([](auto x) { return sum(square(x)); }, rule);
    const double before = step(p, state).item();
    const double after = step(p, state).item();
    CHECK(before == 14);
    CHECK(after < before);
    CHECK(p(0) < start(0));
  };
  check(tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.5});
  check(tn::optim::adam{.learning_rate = 0.1});
}

TEST_CASE("integers of a model stay as they are") {
  const auto check = [](const auto& rule) {
    tn::engine random(3);
    auto model = tn::init<with_count>(random);
    model.w.fill_(1);
    model.seen.at(0) = 5, model.seen.at(1) = 7;
    auto state = rule.init(model);
    const tn::tensor<float, shape<2>> x = tn::ones(shape<2>{});
    auto step = tn::train_step([](auto m, auto x) { return m(x); }, rule);
    step(model, state, x);
    CHECK(model.seen(0) == 5);
    CHECK(model.seen(1) == 7);
    CHECK(model.w(0) < 1);
  };
  check(tn::optim::sgd{.learning_rate = 1.5, .weight_decay = 1});
  check(tn::optim::adam{.learning_rate = 0.1, .weight_decay = 1});
}

TEST_CASE("a schedule ends after its steps, also in the warm-up") {
  const tn::optim::warmup_cosine rate{.peak = 1, .warmup = 10, .steps = 5, .end = 0.25};
  CHECK(rate(4) == 5.0 / 11);
  CHECK(rate(5) == 0.25);
  CHECK(rate(9) == 0.25);
}
