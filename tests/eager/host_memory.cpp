// SPDX-License-Identifier: BSL-1.0
// What is about the host's memory alone: spans, borrowed memory and its deleters, by which it is seen what a graph keeps alive.
#include <numeric>

#include "values.hpp"

TEST_CASE("P25 a span shares memory both ways and keeps the element type") {
  tn::tensor<float, shape<2>> x{1, 2};
  auto y = tn::as_span(x);
  static_assert(std::is_same_v<decltype(y), std::span<float>>);
  y[0] = 50;
  check_values(x, {50, 2});
  x.add_(1);
  CHECK(y[0] == 51);
  CHECK(y[1] == 3);
  tn::tensor<float, shape<>> scalar(3.0f);
  CHECK(tn::as_span(scalar).size() == 1);
}

TEST_CASE("P27 borrowed memory is shared both ways") {
  std::vector<double> a{1.0, -0.5, 3.4, -2.1, 0.0, -6.5};
  auto t = tn::from(std::span(a));
  static_assert(std::is_same_v<tn::element_t<decltype(t)>, double> && !tn::requires_grad_v<decltype(t)>);
  static_assert(tn::ownership_of_v<decltype(t)> == tn::ownership::aliasing);
  t[0] = 77.0;
  CHECK(a[0] == 77);
  a[1] = 5.0;
  CHECK(t[1].item() == 5);
}

TEST_CASE("a writable export throws while a graph has saved the storage") {
  const auto x = leaf<2>(1, 2);
  tn::tensor y = x * 1;
  auto alias = y.detach();
  {
    const tn::tensor z = y * y;
    CHECK_THROWS_AS(tn::as_span(alias), tn::ownership_error);
    sum(z).backward();
    CHECK(tn::as_span(alias).size() == 2);
  }
  CHECK(tn::as_span(alias)[1] == 2);
}

TEST_CASE("a consumed tensor has no span") {
  auto c = constant<2>(1, 2);
  const auto node = std::move(c).mul_(leaf<2>(1, 2));
  CHECK_THROWS_AS(tn::as_span(c), tn::ownership_error);
}

TEST_CASE("a deleter runs once, when the last tensor over borrowed memory is gone") {
  auto* const memory = new double[2]{1, 2};
  int calls = 0;
  {
    auto kept = constant<2>(0, 0);
    {
      auto t = tn::from<shape<2>>(memory, [&calls, memory]() noexcept { ++calls; delete[] memory; });
      const auto e = t * 2;
      kept = e;
    }
    CHECK(calls == 1);
    check_values(kept, {2, 4});
  }
  CHECK(calls == 1);
}

TEST_CASE("borrowed memory takes part in gradients") {
  std::vector<double> a(3);
  std::iota(a.begin(), a.end(), 1);
  const auto w = tn::from(std::span<double, 3>(a)).detach().requires_grad_();
  sum(w * w).backward();
  check_values(w.grad(), {2, 4, 6});
  std::vector<float> weights{1, 2};
  const auto read_only = tn::from(std::span<const float>(weights));
  static_assert(tn::access_of_v<decltype(read_only)> == tn::access::read_only);
  const auto copy = tn::from<shape<2, 3>>(std::vector<double>{1, 2, 3, 4, 5, 6}.data()).clone();
  check_values(copy, {1, 2, 3, 4, 5, 6});
}

TEST_CASE("overlap is decided by address, also between two tensors over one buffer") {
  std::vector<double> memory{1, 2, 3, 4};
  auto low = tn::from(std::span<double, 3>(memory.data(), 3));
  const auto high = tn::from(std::span<double, 3>(memory.data() + 1, 3));
  CHECK_THROWS_AS(low.add_(high), tn::overlap_error);
  low = high * 10;
  CHECK(memory == std::vector<double>{20, 30, 40, 4});
}

TEST_CASE("memory that no derivative reads is let go of at once, other memory by backward()") {
  const auto w = leaf<2>(1, 2);
  const auto borrowed = [](int& freed) {
    auto* const memory = new double[2]{3, 4};
    return tn::from<shape<2>>(memory, [&freed, memory]() noexcept { ++freed, delete[] memory; });
  };
  int added = 0, multiplied = 0, scaled = 0;
  {
    const tn::tensor sum_of = w + borrowed(added);
    const tn::tensor product = w * borrowed(multiplied);
    const tn::tensor half = w * 0.5 + borrowed(scaled) * 2;
    CHECK(added == 1);
    CHECK(scaled == 1);
    CHECK(multiplied == 0);
    sum(product).backward();
    CHECK(multiplied == 1);
    check_values(w.grad(), {3, 4});
    const tn::tensor again = w * borrowed(multiplied);
    sum(again).backward(tn::retain_graph);
    CHECK(multiplied == 1);
  }
  CHECK(multiplied == 2);
}

TEST_CASE("a hidden state that is detached lets go of the past") {
  const auto w = leaf<>(0.5);
  int freed = 0;
  double one = 1;
  auto h = tn::tensor(w * tn::from<shape<>>(&one, [&freed]() noexcept { ++freed; }));
  for (int i = 0; i < 3; ++i) {
    auto next = h.detach();
    h = tanh(next * w);
    h.backward(tn::retain_graph);
  }
  CHECK(freed == 1);
}

TEST_CASE("of memory that a span may write, a call of a compiled function keeps a copy of what its gradient reads") {
  auto w = leaf<2>(1, 2);
  auto x = constant<2>(3, 4);
  const auto written = tn::as_span(x);
  const auto y = tn::compile([](auto a, auto b) { return sum(a * b); })(w, x);
  written[0] = 100;
  y.backward();
  check_values(w.grad(), {3, 4});
}
