// SPDX-License-Identifier: BSL-1.0
// A step in micro-batches against the step with all data at once: the same numbers up to rounding, in less memory.
#include "../catch.hpp"

#include <algorithm>
#include <cmath>

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

// Law: loss, model and state are those of the step with all data at once, up to rounding, where the loss is a mean over samples.
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

namespace {
template <class Kind>
struct wide_network {
  using square_layer = tn::param<Kind, double, shape<128, 128>>;
  BOOST_HANA_DEFINE_STRUCT(wide_network, (square_layer, first), (square_layer, second), (tn::param<Kind, double, shape<128>>, last));
  constexpr auto operator()(const auto& x) const { return matmul(tanh(matmul(tanh(matmul(x, first)), second)), last); }
};
constexpr auto line = [](auto w, auto b, auto x, auto y) { return mse(matmul(x, w) + b, y); };
constexpr auto misfit = [](auto model, auto x, auto y) { return mse(model(x), y); };
}  // namespace

TEST_CASE("gradients of parts that come one by one add up in place, with one product in memory and not with all") {
  tn::engine random(6);
  const auto model = tn::init<wide_network>(random);
  constexpr auto add_gradients = tn::compile([](auto sum, auto m, auto x, auto y) { return sum + tn::grad(misfit)(m, x, y); });
  auto total = tn::init<wide_network>(random), wanted = tn::deepcopy(total);
  for (int part = 0; part < 3; ++part) {
    const auto x = tn::normal<double>(shape<8, 128>{}, random);
    const auto y = tn::normal<double>(shape<8>{}, random);
    const auto* const memory = total.first.data();
    CHECK(add_gradients.into(total).copied_bytes(total, model, x, y) == 0);
    add_gradients.into(total)(total, model, x, y);
    CHECK(total.first.data() == memory);
    wanted = wanted + tn::grad(misfit)(model, x, y);

    using plan = decltype(add_gradients.plan(total, model, x, y));
    using plan_of_gradient = decltype(tn::grad(misfit).plan(model, x, y));
    constexpr std::int64_t product = 8 * 128 * 128;
    INFO(plan::workspace_bytes() << " bytes, " << plan_of_gradient::workspace_bytes() << " without the sums, a product has " << product);
    CHECK(plan::workspace_bytes() <= plan_of_gradient::workspace_bytes() + product + 2048);
    CHECK(plan::kernels() <= plan_of_gradient::kernels() + 3);
  }
  for (int i = 0; i < 128; ++i)
    for (int j = 0; j < 128; ++j) {
      CHECK(total.first(i, j) == Approx(wanted.first(i, j)).epsilon(1e-12));
      CHECK(total.second(i, j) == Approx(wanted.second(i, j)).epsilon(1e-12));
    }
  for (int i = 0; i < 128; ++i) CHECK(total.last(i) == Approx(wanted.last(i)).epsilon(1e-12));
}

TEST_CASE("the sums of gradients may be views of one array") {
  constexpr auto add_gradients = tn::compile([](auto of_w, auto of_b, auto w, auto b, auto x, auto y) {
    const auto [dw, db] = tn::grad<0, 1>(line)(w, b, x, y);
    return std::tuple{of_w + dw, of_b + db};
  });
  tn::engine random(7);
  const auto w = tn::normal<double>(shape<4, 3>{}, random);
  const auto b = tn::normal<double>(shape<3>{}, random);
  tn::tensor<double, shape<15>> flat;
  auto of_w = flat.at(tn::range<0, 12>()).reshape<4, 3>();
  auto of_b = flat.at(tn::range<12, 15>());
  tn::tensor<double, shape<4, 3>> wanted_w;
  tn::tensor<double, shape<3>> wanted_b;
  for (int part = 0; part < 3; ++part) {
    const auto x = tn::normal<double>(shape<16, 4>{}, random);
    const auto y = tn::normal<double>(shape<16, 3>{}, random);
    CHECK(add_gradients.into(of_w, of_b).copied_bytes(of_w, of_b, w, b, x, y) == 0);
    add_gradients.into(of_w, of_b)(of_w, of_b, w, b, x, y);
    const auto [dw, db] = tn::grad<0, 1>(line)(w, b, x, y);
    wanted_w += dw;
    wanted_b += db;
  }
  for (int i = 0; i < 12; ++i) CHECK(flat(i) == Approx(wanted_w(i / 3, i % 3)).epsilon(1e-13));
  for (int i = 0; i < 3; ++i) CHECK(flat(12 + i) == Approx(wanted_b(i)).epsilon(1e-13));
}

TEST_CASE("a large product that several results read, or that is one itself") {
  using matrix = tn::tensor<double, shape<128, 128>>;
  tn::engine random(8);
  const matrix a = tn::normal<double>(shape<128, 128>{}, random), b = tn::normal<double>(shape<128, 128>{}, random);
  const matrix x = tn::normal<double>(shape<128, 128>{}, random), y = tn::normal<double>(shape<128, 128>{}, random);
  const auto product = tn::compile([](auto l, auto r) { return matmul(l, r); })(x, y);
  const auto check = [&](const matrix& got, double of_a, double of_b, double of_product) {
    double worst = 0;
    for (int i = 0; i < 128; ++i)
      for (int j = 0; j < 128; ++j) worst = std::max(worst, std::abs(got(i, j) - (of_a * a(i, j) + of_b * b(i, j) + of_product * product(i, j))));
    CHECK(worst < 1e-12);
  };
  constexpr auto two = tn::compile([](auto s, auto t, auto l, auto r) {
    const auto p = matmul(l, r);
    return std::tuple{s + p, p + t};
  });
  const auto [first, second] = two(a, b, x, y);
  check(first, 1, 0, 1);
  check(second, 0, 1, 1);
  constexpr auto with_product = tn::compile([](auto s, auto l, auto r) {
    const auto p = matmul(l, r);
    return std::tuple{s + p, p, exp(s)};
  });
  const auto [sum, itself, other] = with_product(a, x, y);
  check(sum, 1, 0, 1);
  check(itself, 0, 0, 1);
  CHECK(other(3, 4) == Approx(std::exp(a(3, 4))));
  constexpr auto read_on = tn::compile([](auto s, auto t, auto l, auto r) {
    const auto u = s + matmul(l, r);
    return std::tuple{u, u + t, t + matmul(r, l)};
  });
  const auto [u, v, w] = read_on(a, b, x, y);
  check(u, 1, 0, 1);
  check(v, 1, 1, 1);
  const auto turned = tn::compile([](auto l, auto r) { return matmul(l, r); })(y, x);
  CHECK(w(5, 6) == Approx(b(5, 6) + turned(5, 6)));
  // Over their own arguments: the sum of the first is an operand of the second.
  matrix c = a.clone(), d = b.clone();
  constexpr auto chained = tn::compile([](auto s, auto t, auto l) { return std::tuple{s + matmul(t, l), t + matmul(l, s)}; });
  const auto [wanted_c, wanted_d] = chained(a, b, x);
  chained.into(c, d)(c, d, x);
  CHECK(c(100, 7) == wanted_c(100, 7));
  CHECK(d(100, 7) == wanted_d(100, 7));
}
