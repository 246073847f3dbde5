// SPDX-License-Identifier: BSL-1.0
// Loops and branches on a GPU against the reference backend, which runs the graph as it was written.
#include "../catch.hpp"

#include <vector>

#include <tenure/cpu.hpp>

#include <tenure/backend/reference/run.hpp>

#include "../kernels/control_flow.hpp"
#include "../on_device.hpp"

using namespace control_flow_tests;

namespace {

template <class T, std::int64_t... E>
auto some(double first, double step, std::int64_t rows = 0) {
  auto x = [&] {
    if constexpr (tn::shape<E...>::is_static) return tn::tensor<T, tn::shape<E...>>{};
    else return tn::tensor<T, tn::shape<E...>>(rows);
  }();
  double v = first;
  for (T& e : tn::as_span(x)) e = static_cast<T>(v), v += step;
  return x;
}

template <class F, class... X>
void check(const char* what, F f, const X&... x) {
  INFO(what);
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  const std::vector<tn::reference::array> arguments{tn::reference::array(x.extents(), x.data())...};
  const std::vector<tn::reference::array> wanted = tn::reference::run(program::value.view(), arguments);
  std::size_t result = 0;
  tn::detail::for_each_leaf(tn::compile(f)(on_device::there(x)...), [&](const auto& y) {
    const auto& found = on_device::here(y);
    const tn::reference::array& expected = wanted[result++];
    REQUIRE(found.size() == expected.size());
    for (std::int64_t i = 0; i < found.size(); ++i) {
      INFO("result " << result - 1 << " element " << i);
      CHECK(static_cast<double>(found.data()[i]) == Approx(expected[i]).epsilon(1e-5).margin(1e-5));
    }
  });
  CHECK(result == wanted.size());
}

}  // namespace

TEST_CASE("loops: scan and fori_loop with gradients, positions, run-time lengths") {
  check("scan", gradient_of_recurrence, some<float, 3, 3>(-0.8, 0.2), some<float, 2, 3>(0.5, -0.2), some<float, 4, 2, 3>(-1.0, 0.1));
  check("swapped carries", swapped, some<float, 5, 3>(-0.5, 0.1));
  check("positions", gradient_by_position, some<float, 3, 5>(-0.5, 0.1));
  for (const std::int64_t n : {0, 1, 6}) check("run-time length", running, some<float, 3>(1, 1), some<float, tn::dyn, 3>(0, 0.25, n));
}

TEST_CASE("loops: while_loop with its gradient, without and with a bound") {
  const auto x = some<float, 5>(1, 0.2);
  check("while_loop", doubled, x, some<float>(200, 0));
  check("no iteration", doubled, x, some<float>(-1, 0));
  check("gradient", gradient_of_doubled, x, some<float>(200, 0));
  check("gradient with a bound", gradient_of_square_root, x);
}

TEST_CASE("branches: cond in a scan, and switch_case, with their gradient") {
  for (const double which : {0, 1, 2}) check("branches", gradient_of_branching, some<float, 4>(-0.7, 0.5), some<std::int64_t>(which, 0));
}

TEST_CASE("loops: an iteration that computes an index outside its axis is refused, and the target stays as it was") {
  const auto start = some<std::int64_t>(1, 0);
  auto next = some<std::int64_t, 3>(1, 1);  // 1 2 3
  auto target = on_device::there(some<std::int64_t>(-5, 0));
  auto copies = on_device::there(some<std::int64_t, 3>(-5, 0));
  CHECK_THROWS_AS(tn::compile(chase).into(target, copies)(on_device::there(next), on_device::there(start)), tn::index_error);
  CHECK(on_device::here(target).item() == -5);
  CHECK(on_device::at(copies, 2) == -5);
  next[2] = std::int64_t{0};
  check("indices", chase, next, start);
}
