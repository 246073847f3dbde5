// SPDX-License-Identifier: BSL-1.0
// Cotangents of matrices that a scan captures: products of the iterations become one product after the loop. Judged by the unrolled program.
#include "reference.hpp"

namespace tn = tenure;
using judged::interpreted;

namespace {

// w is used three times: from the right, from the left and transposed. u is used by one product with the slices.
constexpr auto iteration = [](auto h, auto x, auto w, auto u) {
  const auto n = tn::tanh(tn::matmul(h, w) + tn::matmul(x, u));
  return n + 0.1 * tn::matmul(w, n) + 0.2 * tn::matmul(h, tn::transpose(w));
};
constexpr auto looped = [](auto w, auto u, auto h, auto xs) {
  const auto last = std::get<0>(tn::scan([=](auto h, auto x) { return std::tuple{iteration(h, x, w, u), tn::nothing}; }, h, xs));
  return tn::sum(last * last);
};
constexpr auto reversed = [](auto w, auto u, auto h, auto xs) {
  const auto last = std::get<0>(tn::scan([=](auto h, auto x) { return std::tuple{iteration(h, x, w, u), tn::nothing}; }, h, xs, {.reverse = true}));
  return tn::sum(last * last);
};
template <int TripCount, bool Reverse = false>
struct unrolled {
  constexpr auto operator()(auto w, auto u, auto h, auto xs) const {
    for (int i = 0; i < TripCount; ++i) h = iteration(h, xs[Reverse ? TripCount - 1 - i : i], w, u);
    return tn::sum(h * h);
  }
};
// The same for a batch of two.
constexpr auto of_batch = [](auto w, auto u, auto h, auto xs) {
  const auto last = std::get<0>(tn::scan([=](auto h, auto x) { return std::tuple{tn::tanh(tn::matmul(h, w) + tn::matmul(x, u)), tn::nothing}; }, h, xs));
  return tn::sum(last * last);
};
constexpr auto of_batch_unrolled = [](auto w, auto u, auto h, auto xs) {
  for (int i = 0; i < 3; ++i) h = tn::tanh(tn::matmul(h, w) + tn::matmul(xs[i], u));
  return tn::sum(h * h);
};

template <class F>
struct derivatives {
  F f{};
  constexpr auto operator()(auto w, auto u, auto h, auto xs) const {
    const auto [y, a, b, c, d] = tn::value_and_grad<0, 1, 2, 3>(f)(w, u, h, xs);
    const auto second = std::get<1>(tn::jvp(tn::grad<0, 1, 2, 3>(f))(w, u, h, xs, w, u, h, xs));
    return std::tuple{y, a, b, c, d, second};
  }
};

template <class X>
X filled(X x, double scale) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = scale * (0.8 - 0.15 * static_cast<double>((i * 5 + 2) % 11));
  return x;
}
template <std::int64_t... E>
auto numbers(double scale) { return filled(tn::tensor<double, tn::shape<E...>>(tn::zeros<double>(tn::shape<E...>{})), scale); }

void equal(const std::vector<tn::reference::array>& found, const std::vector<tn::reference::array>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r) {
    REQUIRE(found[r].size() == expected[r].size());
    for (std::int64_t i = 0; i < found[r].size(); ++i) {
      INFO("result " << r << " element " << i);
      CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-12).margin(1e-13));
    }
  }
}

/// What the loops of a gradient hold: the carries of the second, and the elements that each returns for an iteration.
struct memory {
  int carries = 0;
  std::int64_t first = 0, second = 0;
};
template <class F, class... X>
memory memory_of(F, const X&...) {
  const tn::ir::builder written = tn::detail::source_of<F, X...>::trace();
  const tn::ir::builder live = tn::passes::dead_code(written.view());
  const tn::ir::graph_view g = live.view();
  memory m;
  bool is_first = true;
  for (int i = 0; i < g.count; ++i) {
    if (g[i].op != tn::ir::opcode::control_flow) continue;
    const tn::ir::control_flow& c = g.control_flow_of(g[i]);
    const tn::ir::graph_view body = g.body_at(c.bodies[0]);
    std::int64_t& elements = is_first ? m.first : m.second;
    for (int k = c.carries; k < body.output_count; ++k) {
      std::int64_t n = 1;
      for (int a = 0; a < body.shape_of(body.outputs[k]).rank; ++a) n *= body.shape_of(body.outputs[k])[a];
      elements += n;
    }
    m.carries = c.carries;
    is_first = false;
  }
  return m;
}

}  // namespace

TEST_CASE("Law: vjp of scan is vjp of the unrolled loop, with a matrix that is captured several times") {
  const auto w = numbers<4, 4>(0.6);
  const auto u = numbers<3, 4>(0.9);
  const auto h = numbers<4>(0.7);
  const auto three = numbers<3, 3>(1);
  const auto one = numbers<1, 3>(1);
  {
    INFO("3 iterations");
    equal(interpreted(derivatives<decltype(looped)>{}, w, u, h, three), interpreted(derivatives<unrolled<3>>{}, w, u, h, three));
  }
  {
    INFO("3 iterations, from the last");
    equal(interpreted(derivatives<decltype(reversed)>{}, w, u, h, three), interpreted(derivatives<unrolled<3, true>>{}, w, u, h, three));
  }
  {
    INFO("1 iteration");
    equal(interpreted(derivatives<decltype(looped)>{}, w, u, h, one), interpreted(derivatives<unrolled<1>>{}, w, u, h, one));
  }
  {
    INFO("a batch");
    const auto batch = numbers<2, 4>(0.7);
    const auto xs = numbers<3, 2, 3>(1);
    equal(interpreted(derivatives<decltype(of_batch)>{}, w, u, batch, xs), interpreted(derivatives<decltype(of_batch_unrolled)>{}, w, u, batch, xs));
  }
}

TEST_CASE("the sums of products leave the loop where their factors are no larger than the matrix") {
  const auto w = numbers<4, 4>(0.6);
  const auto u = numbers<3, 4>(0.9);
  CHECK(memory_of(tn::grad<0, 1>(looped).function, w, u, numbers<4>(0.7), numbers<3, 3>(1)).carries == 1);
  const memory m = memory_of(tn::grad<0, 1>(of_batch).function, w, u, numbers<2, 4>(0.7), numbers<3, 2, 3>(1));
  CHECK(m.carries == 1);
  CHECK(m.first == 2 * 4 + 2 * 4);  // h and the result of tanh
  CHECK(m.second == 2 * 4);         // the factor of both products; the others are h and the slices
  // In a batch of 4 the factor with 4 x 4 elements is not smaller than u with 3 x 4.
  CHECK(memory_of(tn::grad<0, 1>(of_batch).function, w, u, numbers<4, 4>(0.7), numbers<3, 4, 3>(1)).carries == 2);
  CHECK(memory_of(tn::grad<0, 1>(of_batch).function, w, u, numbers<5, 4>(0.7), numbers<3, 5, 3>(1)).carries == 3);
}

TEST_CASE("a gradient keeps what it reads, or only the carry where that is less") {
  constexpr auto of = [](auto f) {
    return [](auto w, auto xs) { return tn::sum(std::get<0>(tn::scan([=](auto c, auto x) { return std::tuple{decltype(f){}(c, x, w), tn::nothing}; }, w, xs))); };
  };
  const auto w = numbers<4>(0.6);
  const auto xs = numbers<3, 4>(1);
  // It reads the carry, tanh and sigmoid: two of them more than the carry.
  CHECK(memory_of(tn::grad(of([](auto c, auto x, auto w) { return tn::tanh(c * w) * tn::sigmoid(c + x); })).function, w, xs).first == 4);
}

TEST_CASE("compiled, and for any number of iterations") {
  const auto w = numbers<4, 4>(0.6);
  const auto u = numbers<3, 4>(0.9);
  const auto h = numbers<4>(0.7);
  constexpr auto f = tn::value_and_grad<0, 1, 2>(looped);
  using open = tn::tensor<double, tn::shape<tn::dyn, 3>>;
  for (const int trip_count : {0, 1, 3}) {
    INFO(trip_count << " iterations");
    const auto xs = filled(open(tn::zeros<double>(tn::shape<tn::dyn, 3>{}, trip_count)), 1);
    const auto found = f(w, u, h, xs);
    judged::agree(found, judged::by_reference(f.function, w, u, h, xs));
    if (trip_count != 0) continue;
    const auto& [value, dw, du, dh] = found;
    CHECK(tn::sum(dw * dw).item() == 0);
    CHECK(tn::sum(du * du).item() == 0);
    CHECK(tn::sum(tn::square(dh - 2.0 * h)).item() == 0);
  }
}
