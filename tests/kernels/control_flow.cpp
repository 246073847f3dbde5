// SPDX-License-Identifier: BSL-1.0
// Loops and branches by the kernels of the GPU, on the host, against the reference backend.
#include "control_flow.hpp"

#include "check.hpp"

using namespace control_flow_tests;
using by_kernels::check, by_kernels::some;

namespace {

template <class F, class... X>
using program_of = typename decltype(tn::compile(std::declval<F>()).plan(std::declval<const X&>()...))::program_type;

template <std::int64_t... E>
using array_of = tn::tensor<float, tn::shape<E...>>;

}  // namespace

TEST_CASE("scan and fori_loop: values, gradients, positions, the last slice first") {
  check(gradient_of_recurrence, some<float, 3, 3>(), some<float, 2, 3>(), some<float, 4, 2, 3>());
  check(swapped, some<float, 5, 3>());
  check(gradient_by_position, some<float, 3, 5>());
}

TEST_CASE("a scan of run-time length, also without iterations") {
  for (const std::int64_t n : {0, 1, 6}) {
    array_of<tn::dyn, 3> xs(n);
    for (float& v : tn::as_span(xs)) v = 0.25f * static_cast<float>(&v - xs.data());
    check(running, some<float, 3>(), xs);
  }
}

TEST_CASE("a loop updates a block of the array that it carries, in place and of a copy") {
  constexpr auto f = [](auto cache, auto xs, auto first) {
    const auto iteration = [](auto state, auto x) {
      const auto [c, i] = state;
      const auto next = tn::dynamic_update(c, tn::stack(x, c[i]), std::tuple{i, 0});
      return std::tuple{std::tuple{tn::dynamic_update(next, tn::unsqueeze<0>(x + c[0]), std::tuple{i + 1, 0}), i + 1}, sum(next)};
    };
    const auto [last, sums] = tn::scan(iteration, std::tuple{cache, first}, xs);
    return sum(square(std::get<0>(last))) + sum(sums);
  };
  check(tn::grad<0, 1>(f), some<float, 30, 4>(), some<float, 5, 4>(), tn::tensor<std::int64_t, tn::shape<>>(std::int64_t{20}));
  constexpr auto put = [](auto cache, auto x, auto i) { return tn::dynamic_update(cache, x, std::tuple{0, i}); };
  check(put, some<double, 30, 4>(), some<double, 30, 2>(), tn::tensor<std::int32_t, tn::shape<>>(std::int32_t{1}));
}

TEST_CASE("updates of samples at starts of their own") {
  constexpr auto put = tn::vmap([](auto cache, auto x, auto i) { return tn::dynamic_update(cache, x, std::tuple{i, 0}); });
  check(put, some<float, 3, 30, 4>(), some<float, 3, 2, 4>(), tn::tensor<std::int32_t, tn::shape<3>>{0, 28, 7});
}

TEST_CASE("while_loop with its gradient, without and with a bound") {
  const auto x = some<float, 5>(1, 2);
  check(doubled, x, array_of<>(200.0f));
  check(doubled, x, array_of<>(-1.0f));
  check(gradient_of_doubled, x, array_of<>(200.0f));
  check(gradient_of_doubled, x, array_of<>(-1.0f));
  check(gradient_of_square_root, x);
}

TEST_CASE("cond in a scan, and switch_case, with their gradient") {
  for (const std::int64_t which : {0, 1, 2}) check(gradient_of_branching, some<float, 4>(), tn::tensor<std::int64_t, tn::shape<>>(which));
}

TEST_CASE("the memory of all iterations is taken at once, and the host waits for conditions only") {
  const auto count = []<class F, class... X>(F, const X&... x) {
    using program = program_of<F, X...>;
    const void* const arguments[] = {x.data()...};
    std::vector<std::vector<std::byte>> memory;
    std::vector<void*> results;
    for (int i = 0; i < program::value.output_count; ++i) {
      memory.emplace_back(4096);
      results.push_back(memory.back().data());
    }
    host::device device;
    device.given = {};
    const auto is_ready = [&] { CHECK(device.allocations == (tn::cuda_backend::workspace_bytes<program, host::device>() > 0)); };
    tn::cuda_backend::run<program>(device, arguments, results.data(), nullptr, is_ready);
    CHECK(device.allocated == tn::cuda_backend::workspace_bytes<program, host::device>());
    return std::pair{device.launches, device.reads};
  };
  const auto [launches, reads] = count(gradient_of_recurrence, some<float, 3, 3>(), some<float, 2, 3>(), some<float, 4, 2, 3>());
  CHECK(reads == 0);
  CHECK(launches < 40);
  CHECK(count(doubled, some<float, 5>(1, 1), array_of<>(20.0f)).second == 3);  // 5, 12.5 and 23.75 are compared with 20
  CHECK(count(gradient_of_doubled, some<float, 5>(1, 1), array_of<>(20.0f)).second == 4);  // and the number of iterations
  CHECK(count(branching, some<float, 4>(), tn::tensor<std::int64_t, tn::shape<>>(std::int64_t{2})).second >= 4);
  // This loop needs memory only for its condition: its number is written over itself.
  constexpr auto powers = [](auto x) { return tn::while_loop([](auto c) { return c < 9.0f; }, [](auto c) { return c * 2.0f; }, x); };
  CHECK(tn::cuda_backend::workspace_bytes<program_of<decltype(powers), array_of<>>, host::device>() == 64);
  CHECK(count(powers, array_of<>(3.0f)).second == 3);  // 3, 6 and 12
  CHECK(count(by_position, some<float, 3, 5>()).second == 0);
}

TEST_CASE("an iteration that computes an index outside its axis is refused, and no result is written") {
  tn::tensor<std::int64_t, tn::shape<3>> next = {1, 2, 0};
  const tn::tensor<std::int64_t, tn::shape<>> start(std::int64_t{1});
  check(chase, next, start);
  next[2] = std::int64_t{7};
  using program = program_of<decltype(chase), decltype(next), decltype(start)>;
  std::int64_t first = -5, second[3] = {-5, -5, -5};
  const void* const arguments[] = {next.data(), start.data()};
  void* const results[] = {&first, second};
  host::device device;
  CHECK_THROWS_WITH(tn::cuda_backend::run<program>(device, arguments, results, nullptr), "tenure: gather: index 7 is outside an axis of 3");
  CHECK(first == -5);
  CHECK(second[0] == -5);
}
