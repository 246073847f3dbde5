// SPDX-License-Identifier: BSL-1.0
// A step in micro-batches against the step with all data at once: the same numbers up to rounding, in less memory.
#include "../catch.hpp"

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {
constexpr std::int64_t samples = 256, width = 64;

template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, double, shape<8, width>>, first),
                           (tn::param<Kind, double, shape<width, width>>, second), (tn::param<Kind, double, shape<width>>, last));
  constexpr auto operator()(const auto& x) const { return matmul(tanh(matmul(tanh(matmul(x, first)), second)), last); }
};
constexpr auto loss = [](auto model, auto x, auto y, auto scale) { return mse(model(x) * scale, y); };
constexpr auto noisy = [](auto model, auto x, auto y, auto key) { return mse(model(tn::dropout(x, 0.25, key)), y); };
}  // namespace

TEST_CASE("a step in parts is the step with all data, up to rounding, in the memory of one part") {
  tn::engine random(4);
  const auto x = tn::normal<double>(shape<samples, 8>{}, random);
  const auto y = tn::normal<double>(shape<samples>{}, random);
  auto whole = tn::init<network>(random);
  auto parts = tn::deepcopy(whole);
  const tn::optim::clipped rule{tn::optim::adam{.learning_rate = 0.05}, 0.5};
  const auto at_once = tn::train_step(loss, rule);
  const auto in_parts = tn::train_step(loss, rule, tn::micro_batches<16>);
  auto of_whole = rule.init(whole);
  auto of_parts = rule.init(parts);
  for (int i = 0; i < 5; ++i) {
    const double a = at_once(whole, of_whole, x, y, 0.5).item(), b = in_parts(parts, of_parts, x, y, 0.5).item();
    CHECK(b == Approx(a).epsilon(1e-12));
  }
  CHECK(of_parts.steps == 5);
  for (std::int64_t i = 0; i < width; ++i) {
    CHECK(parts.first(3, i) == Approx(whole.first(3, i)).epsilon(1e-9));
    CHECK(parts.second(i, 7) == Approx(whole.second(i, 7)).epsilon(1e-9));
    CHECK(parts.last(i) == Approx(whole.last(i)).epsilon(1e-9));
  }

  using plan = decltype(in_parts.plan(parts, of_parts, x, y, 0.5));
  using plan_at_once = decltype(at_once.plan(whole, of_whole, x, y, 0.5));
  constexpr std::int64_t model_bytes = 8 * (8 * width + width * width + width), arrays_of_part = 8 * (samples / 16) * width;
  INFO(plan::workspace_bytes() << " bytes, " << plan_at_once::workspace_bytes() << " at once, model " << model_bytes << ", part "
                               << arrays_of_part);
  CHECK(plan::workspace_bytes() < plan_at_once::workspace_bytes());
  CHECK(plan::workspace_bytes() <= 3 * model_bytes + 6 * arrays_of_part);
}

TEST_CASE("each part has its own row of an argument that is marked each_part") {
  tn::engine random(5);
  const auto x = tn::normal<double>(shape<32, 8>{}, random);
  const auto y = tn::normal<double>(shape<32>{}, random);
  auto model = tn::init<network>(random);
  auto by_hand = tn::deepcopy(model);
  const tn::tensor keys = tn::split_key<4>(tn::random_key(6));
  const tn::optim::sgd rule{.learning_rate = 0.1};
  const auto step = tn::train_step(noisy, rule, tn::micro_batches<4, tn::each_part<3>>);
  auto state = rule.init(model), of_hand = rule.init(by_hand);
  const double value = step(model, state, x, y, keys).item();

  double sum = 0;
  auto total = tn::map([](auto p) { return p * 0.0; }, by_hand);
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto [part, gradients] = tn::value_and_grad(noisy)(by_hand, x[tn::window<8>(8 * i)], y[tn::window<8>(8 * i)], tn::eval(keys[i]));
    sum += part.item() / 4;
    total = total + gradients / 4;
  }
  rule.update(by_hand, total, of_hand);
  CHECK(value == Approx(sum).epsilon(1e-13));
  for (std::int64_t i = 0; i < width; ++i) CHECK(model.second(5, i) == Approx(by_hand.second(5, i)).epsilon(1e-12));
}

TEST_CASE("an argument that is marked every_part goes to every part, whatever its extents are") {
  tn::engine random(7);
  const auto x = tn::normal<double>(shape<32, 4>{}, random);
  const auto y = tn::normal<double>(shape<32>{}, random);
  const auto means = tn::normal<double>(shape<4>{}, random);     // as many rows as parts
  const auto weights = tn::normal<double>(shape<32>{}, random);  // as many rows as samples
  const auto table = tn::normal<double>(shape<3, 4>{}, random);
  auto whole = tn::normal<double>(shape<4>{}, random);
  auto parts = tn::deepcopy(whole);
  const auto fit = [](auto w, auto of_features, auto at, auto to, auto scales, auto rows, auto size) {
    return mse(matmul((at - of_features) * size, w), to) * mean(scales) + sum(square(matmul(rows, w)));
  };
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto of_whole = rule.init(whole), of_parts = rule.init(parts);
  const double at_once = tn::train_step(fit, rule)(whole, of_whole, means, x, y, weights, table, 2.0).item();
  const auto in_parts = tn::train_step(fit, rule, tn::micro_batches<4, tn::every_part<1, 4>, tn::every_part<5>>);
  CHECK(in_parts(parts, of_parts, means, x, y, weights, table, 2.0).item() == Approx(at_once).epsilon(1e-12));
  for (std::int64_t i = 0; i < 4; ++i) CHECK(parts(i) == Approx(whole(i)).epsilon(1e-12));
}
