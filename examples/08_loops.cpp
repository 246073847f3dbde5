// SPDX-License-Identifier: BSL-1.0
// A loop of C++ for tensors and for traced values. Loops and branches that stand once in the graph: a pendulum fitted to observations by scan, a recurrent network over sequences of any
// length, power iteration by fori_loop, Newton's iteration by while_loop, and cond.
#include <cmath>
#include <cstdio>
#include <tuple>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

namespace tn = tenure;

template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

// ---- a loop of C++ ----------------------------------------------------------------------------------------------------

// Heron's square root. eval begins the variable to which the loop assigns, with tensors and in a trace.
constexpr auto heron = [](const auto& a) {
  auto x = tn::eval((a + 1.0) / 2.0);
  for (int i = 0; i < 6; ++i) x = (x + a / x) / 2.0;
  return sum(x);
};

bool same_in_all_modes() {
  // With tensors each iteration is computed at once. With a variable the iterations are its history. Compiled, all iterations are one program.
  const array<double, 3> areas{1, 4, 9};
  auto v = tn::variable<double, tn::shape<3>>{1, 4, 9};
  const double sides = heron(areas).item();
  heron(v).backward();
  const auto [compiled, slope] = tn::value_and_grad(heron)(areas);
  return std::abs(sides - 6) < 1e-9 && std::abs(compiled.item() - 6) < 1e-9 && std::abs(v.grad()(2) - 1.0 / 6) < 1e-9 && std::abs(slope(2) - v.grad()(2)) < 1e-12;
}

// ---- scan: the parameters of a damped pendulum ------------------------------------------------------------------------

// One step of the classical method of Runge and Kutta for angle'' = -p0 sin(angle) - p1 angle'.
constexpr auto rk4 = [](auto state, auto p) {
  constexpr double dt = 0.05;
  const auto slope = [=](auto angle, auto speed) { return std::tuple{speed, -p(0) * sin(angle) - p(1) * speed}; };
  const auto [a, s] = state;
  const auto [a1, s1] = slope(a, s);
  const auto [a2, s2] = slope(a + dt / 2 * a1, s + dt / 2 * s1);
  const auto [a3, s3] = slope(a + dt / 2 * a2, s + dt / 2 * s2);
  const auto [a4, s4] = slope(a + dt * a3, s + dt * s3);
  return std::tuple{a + dt / 6 * (a1 + 2.0 * a2 + 2.0 * a3 + a4), s + dt / 6 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)};
};

// The state goes from iteration to iteration. Each iteration takes one element of `observed` and gives one element of the errors.
constexpr auto errors = [](auto p, auto observed) {
  const auto iteration = [=](auto state, auto seen) {
    const auto [angle, speed] = state;
    return std::tuple{rk4(state, p), angle - seen};
  };
  return std::get<1>(tn::scan(iteration, std::tuple{1.2, 0.0}, observed));
};
constexpr auto misfit = [](auto p, auto observed) { return mean(square(errors(p, observed))); };

bool fit_pendulum() {
  const array<double, 2> truth{9.81, 0.25}, along_p0{1, 0}, along_p1{0, 1};
  const array<double, tn::dyn> zeros(200);
  tn::engine random(7);
  const tn::tensor observed = tn::compile(errors)(truth, zeros) + 0.01 * tn::normal<double>(tn::shape<tn::dyn>{}, random, 200);

  array<double, 2> p{8, 0.5};
  std::printf("pendulum: start at %.4f %.4f\n", p(0), p(1));
  // One program for any number of iterations. The first 50 observations give a start for all 200.
  for (const int count : {50, 50, 50, 200, 200, 200}) {
    const auto seen = observed[tn::range(0, count)];
    const auto still = zeros[tn::range(0, count)];
    // A step of Gauss and Newton: the gradient by reverse mode, the two columns of the Jacobian by forward mode.
    const auto [value, g] = tn::value_and_grad(misfit)(p, seen);
    const auto [e0, u] = tn::jvp(errors)(p, seen, along_p0, still);
    const auto [e1, v] = tn::jvp(errors)(p, seen, along_p1, still);
    const double uu = 2 * mean(u * u).item(), uv = 2 * mean(u * v).item(), vv = 2 * mean(v * v).item(), det = uu * vv - uv * uv;
    p -= array<double, 2>{(vv * g(0) - uv * g(1)) / det, (uu * g(1) - uv * g(0)) / det};
    std::printf("  %3d observations: mean square %.6f, then p = %.4f %.4f\n", count, value.item(), p(0), p(1));
  }
  const double distance = std::hypot(p(0) - truth(0), p(1) - truth(1));
  std::printf("  the truth is 9.81 0.25: off by %.4f\n", distance);
  return distance < 0.02;
}

// ---- scan: a recurrent network over a sequence of any length -----------------------------------------------------------

template <class Kind, auto In, auto Width>
struct lstm {
  BOOST_HANA_DEFINE_STRUCT(lstm,
    (tn::param<Kind, float, tn::shape<In, 4 * Width>>, from_x), (tn::param<Kind, float, tn::shape<Width, 4 * Width>>, from_h),
    (tn::param<Kind, float, tn::shape<4 * Width>>, bias), (tn::param<Kind, float, tn::shape<Width>, tn::init_ones>, out));

  constexpr auto operator()(const auto& h, const auto& c, const auto& x) const {
    const auto gates = matmul(x, from_x) + matmul(h, from_h) + bias;
    const auto keep = sigmoid(tn::slice<0, 0, Width>(gates)), add = sigmoid(tn::slice<0, Width, Width>(gates));
    const auto show = sigmoid(tn::slice<0, 2 * Width, Width>(gates)), seen = tanh(tn::slice<0, 3 * Width, Width>(gates));
    const auto next = keep * c + add * seen;
    return std::tuple{show * tanh(next), next};
  }
};

// The model stands outside of the loop: a body may use any value of the function around it. This loop has no ys.
constexpr auto predict = [](auto model, auto xs) {
  const auto iteration = [=](auto state, auto x) {
    const auto [h, c] = state;
    return std::tuple{model(h, c, x), tn::nothing};
  };
  const auto zero = tn::zeros_like(model.out);
  const auto [state, none] = tn::scan(iteration, std::tuple{zero, zero}, xs);
  return sum(std::get<0>(state) * model.out);
};
constexpr auto loss = [](auto model, auto xs, auto y) { return square(predict(model, xs) - y); };

// Two layers, for a sequence of any length: the body has both, and the second reads the h of the first in the same iteration. The result has the h of
// the second layer for each row.
constexpr auto two_layers = [](auto first, auto second, auto xs) {
  const auto iteration = [=](auto state, auto x) {
    const auto [h1, c1, h2, c2] = state;
    const auto lower = first(h1, c1, x);
    const auto upper = second(h2, c2, std::get<0>(lower));
    return std::tuple{std::tuple_cat(lower, upper), std::get<0>(upper)};
  };
  const auto zero1 = tn::zeros_like(first.out);
  const auto zero2 = tn::zeros_like(second.out);
  return std::get<1>(tn::scan(iteration, std::tuple{zero1, zero1, zero2, zero2}, xs));
};

// The network learns to remember the first number of a sequence. The sequences have 2 to 9 rows, and one program reads all of them.
bool train_network() {
  tn::engine random(1);
  auto model = tn::init<lstm, 2, 12>(random);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 5e-3f});
  auto state = step.rule.init(model);
  float sum = 0, first = 0, last = 0;
  const tn::flush_denormals scope;  // moments that decay into denormals would slow it down
  for (int i = 0; i < 4000; ++i) {
    const auto xs = tn::uniform(tn::shape<tn::dyn, 2>{}, random, -1.0, 1.0, 2 + i % 8);
    sum += step(model, state, xs, xs(0, 0)).item();
    if (i % 500 < 499) continue;
    last = sum / 500;
    if (i < 500) first = last;
    sum = 0;
  }
  const bool has_learned = last < first / 5;
  std::printf("network: mean loss %.2f of the first 500 sequences, %s for the last 500\n", first, has_learned ? "less than a fifth" : "not much less");
  return has_learned;
}

// ---- fori_loop, while_loop, cond ----------------------------------------------------------------------------------------

// The largest eigenvalue of a symmetric matrix, by 60 products. 60 is known while tracing, so the loop has a gradient.
constexpr auto largest_eigenvalue = [](auto m, auto start) {
  const auto v = tn::fori_loop(60, [=](auto, auto x) { return matmul(m, x) / norm(x); }, start);
  return sum(v * matmul(m, v)) / sum(v * v);
};

// Kepler's equation E - e sin(E) = m for all elements of m at once, by Newton's iteration: until the largest error is small, or 50 iterations.
constexpr auto kepler = [](auto e, auto m) {
  const auto error = [=](auto anomaly) { return anomaly - e * sin(anomaly) - m; };
  const auto goes_on = [=](auto state) {
    const auto [anomaly, iterations] = state;
    return amax(abs(error(anomaly))) > 1e-13 && iterations < 50;
  };
  const auto iteration = [=](auto state) {
    const auto [anomaly, iterations] = state;
    return std::tuple{anomaly - error(anomaly) / (1.0 - e * cos(anomaly)), iterations + 1};
  };
  return tn::while_loop(goes_on, iteration, std::tuple{m, 0});
};

// How far a ball flies that is thrown at 30 m/s and slowed down by the air: steps until it is below the ground, and then back along the last
// step. The number of steps depends on the throw.
constexpr auto reach = [](auto angle, auto drag) {
  constexpr double dt = 0.001;
  const auto flies = [](auto s) { return std::get<1>(s) >= 0.0; };
  const auto step = [=](auto s) {
    const auto [x, y, u, v] = s;
    const auto slowed = drag * sqrt(u * u + v * v);
    return std::tuple{x + dt * u, y + dt * v, u - dt * slowed * u, v - dt * (slowed * v + 9.81)};
  };
  const auto [x, y, u, v] = tn::while_loop(flies, step, std::tuple{0.0, 0.0, 30.0 * cos(angle), 30.0 * sin(angle)});
  return x - y * u / v;
};

// Only one branch runs. Without a weight the penalty is not computed, and neither is its gradient.
constexpr auto penalty = [](auto weight, auto w) {
  return tn::cond(weight > 0.0, [=] { return weight * sum(exp(square(w))); }, [] { return 0.0; });
};

// ---- positions that are known when the program runs ------------------------------------------------------------------------

// Writes each row to the place that it is told, which is known when the program runs.
constexpr auto in_order = [](auto rows, auto places) {
  const auto put = [=](auto i, auto done) { return tn::dynamic_update(done, tn::unsqueeze<0>(rows[i]), std::tuple{places[i], 0}); };
  return tn::fori_loop(3, put, tn::zeros_like(rows));
};

// The differences of neighbours, for any length.
constexpr auto roughness = [](auto x) { return sum(square(x[tn::range<1, tn::end>()] - x[tn::range<0, tn::end - 1>()])); };

int main() {
  bool right = same_in_all_modes();
  right &= fit_pendulum();
  right &= train_network();

  tn::engine random(3);
  const auto lower = tn::init<lstm, 2, 12>(random);
  const auto upper = tn::init<lstm, 12, 8>(random);
  const auto shown = tn::compile(two_layers)(lower, upper, tn::uniform(tn::shape<tn::dyn, 2>{}, random, -1.0, 1.0, 5));
  right &= shown.extent(0) == 5 && shown.extent(1) == 8 && shown(4, 7) != 0 && std::abs(shown(4, 7)) < 1;

  const array<double, 2, 2> m{{2, 1}, {1, 3}};
  const auto [largest, dm] = tn::value_and_grad(largest_eigenvalue)(m, array<double, 2>{1, 0});
  std::printf("largest eigenvalue %.6f\n", largest.item());
  right &= std::abs(largest.item() - (5 + std::sqrt(5.0)) / 2) < 1e-9 && std::abs(dm(0, 0) + dm(1, 1) - 1) < 1e-9;

  // Forward mode goes through while_loop too: d(anomaly)/d(e) = sin(anomaly) / (1 - e cos(anomaly)).
  const array<double, 3> mean_anomaly{0.5, 1.5, 3}, still{0, 0, 0};
  const auto [solved, tangent] = tn::jvp(kepler)(0.7, mean_anomaly, 1.0, still);
  const auto& [anomaly, iterations] = solved;
  const auto& [slope, none] = tangent;
  std::printf("Kepler: %.6f after %d iterations, slope %.6f\n", anomaly(0), static_cast<int>(iterations.item()), slope(0));
  right &= std::abs(slope(0) - std::sin(anomaly(0)) / (1 - 0.7 * std::cos(anomaly(0)))) < 1e-6;

  // The drag with which a throw reaches 52.5 m, by Newton's iteration.
  double drag = 0.005, distance = 0;
  for (int i = 0; i < 5; ++i) {
    const auto [reached, by_drag] = tn::value_and_grad<1>(reach)(0.7, drag);
    distance = reached.item();
    drag -= (distance - 52.5) / by_drag.item();
  }
  std::printf("drag: %.6f for %.4f m\n", drag, distance);
  right &= std::abs(distance - 52.5) < 1e-6;

  const auto penalty_and_slope = tn::value_and_grad<1>(penalty);
  const auto [off, no_slope] = penalty_and_slope(0.0, anomaly);
  const auto [on, to_w] = penalty_and_slope(0.1, anomaly);
  right &= off.item() == 0 && no_slope(0) == 0 && on.item() > 0 && to_w(0) > 0;

  const array<double, 3, 2> rows{{1, 2}, {3, 4}, {5, 6}};
  const auto ordered = tn::compile(in_order)(rows, array<std::int64_t, 3>{2, 0, 1});
  right &= ordered(2, 0) == 1 && ordered(0, 1) == 4 && ordered(1, 0) == 5;
  const tn::tensor<double, tn::shape<tn::dyn>> steps = tn::arange<double>(tn::shape<tn::dyn>{}, 10);
  right &= tn::compile(roughness)(steps).item() == 9 && tn::grad(roughness)(steps)(0) == -2;
  return right ? 0 : 1;
}
