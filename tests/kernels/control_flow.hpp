// SPDX-License-Identifier: BSL-1.0
// Loops and branches for the tests of devices: on the host through the kernels (control_flow.cpp), and on a GPU (tests/cuda).
#pragma once

#include <tuple>

#include <tenure/tenure.hpp>

namespace control_flow_tests {

namespace tn = tenure;

// The slices of an iteration have 6 floats, so most of them are not aligned for loads of 16 bytes. The weights are captured.
constexpr auto recurrence = [](auto w, auto h, auto xs) {
  const auto iteration = [=](auto state, auto x) {
    const auto next = tanh(matmul(state, w) + x);
    return std::tuple{next, sum(next * x)};
  };
  const auto [last, ys] = tn::scan(iteration, h, xs);
  return sum(square(last)) + sum(ys * ys);
};
constexpr auto gradient_of_recurrence = tn::value_and_grad<0, 1>(recurrence);

// Carries that swap places, one that only the loop reads, a stack that nothing reads, and a position; from the last slice to the first.
constexpr auto swapped = [](auto xs) {
  const auto iteration = [](auto state, auto x) {
    const auto [a, b, trip_count] = state;
    return std::tuple{std::tuple{b + x, tn::flip<0>(a) * trip_count, trip_count + 1.0f}, std::tuple{a, a * x}};
  };
  const auto [state, ys] = tn::scan(iteration, std::tuple{xs[0], xs[1] * 2.0f, 0.5f}, xs, {.reverse = true});
  return std::tuple{std::get<0>(state), std::get<1>(ys)};
};
constexpr auto by_position = [](auto x) {
  const auto iteration = [=](auto i, auto c) {
    const auto row = sin(x[i]) + c[0] * tn::cast<float>(i);
    return tn::dynamic_update(c, tn::unsqueeze<0>(row), std::tuple{i, 0});
  };
  return sum(square(tn::fori_loop(3, iteration, x * 0.5f)));
};
constexpr auto gradient_by_position = tn::value_and_grad(by_position);  // from the last position to the first

// A loop of run-time length: also one without iterations.
constexpr auto running = [](auto c, auto xs) {
  return tn::scan([](auto state, auto x) { return std::tuple{state * 0.5f + x, state * x}; }, c, xs);
};

// A number of iterations that depends on the elements; also one without iterations.
constexpr auto doubled = [](auto x, auto limit) {
  const auto goes_on = [=](auto state) { return sum(std::get<0>(state)) < limit; };
  return tn::while_loop(goes_on, [=](auto state) { return std::tuple{std::get<0>(state) * 1.5f + x, std::get<1>(state) + 1}; }, std::tuple{x, 0});
};
constexpr auto gradient_of_doubled = tn::value_and_grad<0>([](auto x, auto limit) { return sum(square(std::get<0>(doubled(x, limit)))); });
constexpr auto square_root = [](auto a) {
  const auto goes_on = [=](auto x) { return amax(abs(x * x - a)) > 1e-3f; };
  return sum(tn::while_loop(goes_on, [=](auto x) { return 0.5f * (x + a / x); }, a * 0.0f + 1.0f, tn::at_most<6>));
};
constexpr auto gradient_of_square_root = tn::grad(square_root);

// A branch in each iteration of a scan.
constexpr auto branching = [](auto xs, auto which) {
  const auto iteration = [=](auto c, auto x) {
    const auto chosen = tn::cond(x > 0.0f, [=](auto a) { return a * x; }, [=](auto a) { return exp(a) + x; }, c);
    return std::tuple{chosen, chosen};
  };
  const auto all = tn::scan(iteration, 0.5f, xs);  // clang 14 does not capture structured bindings
  const auto c = std::get<0>(all);
  const auto ys = std::get<1>(all);
  return tn::switch_case(which, [=] { return sum(ys) * c; }, [=] { return c; }, [=] { return sum(ys * ys); });
};
constexpr auto gradient_of_branching = tn::value_and_grad<0>(branching);

// An iteration whose position may be outside its axis.
constexpr auto chase = [](auto next, auto start) {
  return std::tuple{tn::fori_loop(3, [=](auto, auto i) { return tn::gather<0>(next, i); }, start), next * 2};
};

}  // namespace control_flow_tests
