// SPDX-License-Identifier: BSL-1.0
// extern_op in loops, branches and batches: the laws of what the callable computes, and one call for each sample.
#include "external.hpp"

using namespace external_tests;
using vector = tn::tensor<double, tn::shape<3>>;
using judged::agrees_with_reference;

TEST_CASE("external functions in loops, branches and batches") {
  constexpr auto looped = [](auto c, auto xs) {
    const auto iteration = [](auto carry, auto x) { return std::tuple{cubed(0.5 * carry + x), sum(cubed(x))}; };
    const auto [last, sums] = tn::scan(iteration, c, xs);
    return sum(last) + sum(tn::square(sums));
  };
  constexpr auto unrolled = [](auto c, auto xs) {
    auto total = sum(0.0 * c);
    for (int i = 0; i < 2; ++i) {
      total = total + square(sum(plain(xs[i])));
      c = plain(0.5 * c + xs[i]);
    }
    return sum(c) + total;
  };
  const vector c{0.5, 0.25, 1};
  const tn::tensor<double, tn::shape<2, 3>> xs{{0.5, 0.75, 0.25}, {1, 0.125, 0.5}};
  const auto [gc, gx] = tn::grad<0, 1>(looped)(c, xs);
  const auto [ec, ex] = tn::grad<0, 1>(unrolled)(c, xs);
  for (int i = 0; i < 3; ++i) {
    CHECK(gc(i) == Approx(ec(i)));
    CHECK(gx(1, i) == Approx(ex(1, i)));
  }
  agrees_with_reference("scan", tn::grad<0, 1>(looped), c, xs);
  constexpr auto branched = [](auto x) { return sum(tn::cond(sum(x) > 1.0, [](auto a) { return cubed(a); }, [](auto a) { return a; }, x)); };
  CHECK(tn::grad(branched)(c)(2) == Approx(3));
  // A call for each sample.
  cube::calls = 0;
  const auto batch = tn::vmap(cubed)(xs);
  CHECK(cube::calls == 2);
  CHECK(batch(1, 2) == 0.125);
  const auto each = tn::vmap(tn::grad([](auto x) { return sum(cubed(x) * x); }))(xs);
  CHECK(each(1, 0) == Approx(4));
  CHECK(each(1, 2) == Approx(4 * 0.125));
  agrees_with_reference("vmap of grad", tn::vmap(tn::grad([](auto x) { return sum(cubed(x) * x); })), xs);
  constexpr auto shared = tn::vmap<0, tn::unmapped>([](auto x, auto y) { return std::get<0>(dot_and_bin(x, y, 1)); });
  CHECK(shared(xs, c)(0) == Approx(0.5 * 0.5 + 0.75 * 0.25 + 0.25));
  const auto of_shared = tn::grad<1>([](auto a, auto b) { return sum(tn::vmap<0, tn::unmapped>([](auto x, auto y) { return std::get<0>(dot_and_bin(x, y, 1)); })(a, b)); })(xs, c);
  CHECK(of_shared(0) == 1.5);
}

namespace {

/// a x for a vector x, or for each row of a batch.
struct scale {
  static inline int calls = 0;
  void operator()(auto y, auto x, auto a) const noexcept {
    ++calls;
    if constexpr (std::is_same_v<decltype(a), double>) {
      for (std::int64_t i = 0; i < 3; ++i) y(i) = a * x(i);
    } else {
      for (std::int64_t s = 0; s < a.extent(0); ++s)
        for (std::int64_t i = 0; i < 3; ++i) y(s, i) = a(s) * x(s, i);
    }
  }
};
constexpr auto products = tn::extern_op([](auto y, auto x, auto z) noexcept {
  for (std::int64_t i = 0; i < y.size(); ++i) {
    y[i] = 0;
    for (std::int64_t k = 0; k < 3; ++k) y[i] += x[3 * i + k] * z[3 * i + k];
  }
}, [](auto x, auto z) { return tn::reshape<1>(sum(x * z)); }, tn::whole_batch);
constexpr auto scaled = tn::extern_op(scale{}, tn::like<0>, [](auto x, auto a, auto, auto g) { return std::tuple{a * g, products(x, g)(0)}; }, tn::whole_batch);

}  // namespace

TEST_CASE("an external function that takes a whole batch is called once for it") {
  const tn::tensor<double, tn::shape<2, 3>> xs{{0.5, 0.75, 0.25}, {1, 0.125, 0.5}};
  const tn::tensor<double, tn::shape<2>> as{2, -3};
  constexpr auto written = [](auto x, auto a) { return a * x; };
  const auto calls_of = [](const auto& f) {
    scale::calls = 0;
    f();
    return scale::calls;
  };
  agrees_with_reference("both mapped", tn::vmap(scaled), xs, as);
  judged::agree(tn::vmap(scaled)(xs, as), judged::interpreted(tn::vmap(written).function, xs, as));
  CHECK(calls_of([&] { return tn::vmap(scaled)(xs, as); }) == 1);
  // What all samples share is repeated. If they share everything, it is called as for one sample.
  judged::agree(tn::vmap<0, tn::unmapped>(scaled)(xs, 0.5), judged::interpreted(tn::vmap<0, tn::unmapped>(written).function, xs, tn::tensor<double, tn::shape<>>(0.5)));
  CHECK(calls_of([&] { return tn::vmap<0, tn::unmapped>(scaled)(xs, 0.5); }) == 1);
  // Gradients, of run-time extents, of no samples, and for a sample that takes the other branch.
  static constexpr auto loss = [](auto x, auto a) { return sum(square(scaled(x, a))); };
  static constexpr auto loss_written = [](auto x, auto a) { return sum(square(a * x)); };
  judged::agree(tn::vmap(tn::grad<0, 1>(loss))(xs, as), judged::interpreted(tn::vmap(tn::grad<0, 1>(loss_written)).function, xs, as));
  constexpr auto of_sum = [](auto x, auto a) { return sum(tn::vmap(loss)(x, a)); };
  constexpr auto of_sum_written = [](auto x, auto a) { return sum(tn::vmap(loss_written)(x, a)); };
  judged::agree(tn::grad<0, 1>(of_sum)(xs, as), judged::interpreted(tn::grad<0, 1>(of_sum_written).function, xs, as));
  using rows = tn::tensor<double, tn::shape<tn::dyn, 3>>;
  using numbers = tn::tensor<double, tn::shape<tn::dyn>>;
  CHECK(tn::vmap(scaled)(rows(tn::ones<double>(tn::shape<tn::dyn, 3>(), 4)), numbers(tn::full<double>(tn::shape<tn::dyn>(), 2.5, 4)))(3, 2) == 2.5);
  const rows no_rows(tn::ones<double>(tn::shape<tn::dyn, 3>(), 0));
  const numbers no_numbers(tn::ones<double>(tn::shape<tn::dyn>(), 0));
  CHECK(calls_of([&] { CHECK(tn::vmap(scaled)(no_rows, no_numbers).size() == 0); }) == 0);
  CHECK(calls_of([&] { CHECK(judged::by_reference(tn::vmap(scaled), no_rows, no_numbers)[0].size() == 0); }) == 0);
  constexpr auto branched = tn::vmap([](auto x, auto a) { return tn::cond(a > 0.0, [=] { return scaled(x, a); }, [=] { return x; }); });
  CHECK(branched(xs, as)(0, 1) == 1.5);
  CHECK(branched(xs, as)(1, 1) == 0.125);
  // In a batch of batches it is called for each sample of the outer one.
  const tn::tensor<double, tn::shape<3, 2, 3>> cubes = tn::ones<double>(tn::shape<3, 2, 3>());
  const tn::tensor<double, tn::shape<3, 2>> factors{{1, 2}, {3, 4}, {5, 6}};
  CHECK(tn::vmap(tn::vmap(scaled))(cubes, factors)(2, 1, 0) == 6);
  CHECK(calls_of([&] { return tn::vmap(tn::vmap(scaled))(cubes, factors); }) == 3);
}

TEST_CASE("root with an external function in its equation has a value, and derivatives where the function is outside") {
  constexpr auto inside = tn::root([](auto z, auto a) { return z * z - sum(cubed(a)); }, [](auto a) { return sqrt(sum(cubed(a))); });
  static constexpr auto by_value = tn::root([](auto z, auto b) { return z * z - b; }, [](auto b) { return sqrt(b); });
  const vector a{0.5, 0.25, 1};
  const double total = 0.125 + 0.015625 + 1;
  CHECK(tn::compile(inside)(a).item() == Approx(std::sqrt(total)));
  const auto g = tn::grad([](auto x) { return by_value(sum(cubed(x))); })(a);
  for (int i = 0; i < 3; ++i) CHECK(g(i) == Approx(3 * a(i) * a(i) / (2 * std::sqrt(total))));
}
