// SPDX-License-Identifier: BSL-1.0
// Loops whose body is one elementwise kernel: all iterations run with the carries in registers. Judged by the reference backend, for carries of no
// elements, of a few, and of several groups of packets, and for no iterations, one and several.
#include "../catch.hpp"
#include "../quick.hpp"

#include "reference.hpp"

namespace {
namespace tn = tenure;
template <class T>
using vec = tn::tensor<T, tn::shape<tn::dyn>>;
template <class T>
using rows = tn::tensor<T, tn::shape<tn::dyn, tn::dyn>>;

// A number in each iteration, the last one first; what stays the same is an array.
constexpr auto horner = [](auto t, auto x) {
  const auto iteration = [=](auto sum, auto c) { return std::tuple{sum * t + c, tn::nothing}; };
  return std::get<0>(tn::scan(iteration, tn::zeros_like(t), x, {.reverse = true}));
};
// Two carries that read each other, a row and a number in each iteration, and a result that is also a carry.
constexpr auto gates = [](auto a, auto x, auto s) {
  const auto iteration = [=](auto state, auto of_iteration) {
    const auto [h, c] = state;
    const auto [row, number] = of_iteration;
    const auto next = 0.5 * c + tanh(h * a + row) * number;
    const auto shown = sin(next) * c;
    return std::tuple{std::tuple{shown, next}, std::tuple{shown, c + row}};
  };
  return tn::scan(iteration, std::tuple{a, a + 1.0}, std::tuple{x, s});
};
// The body reads the number of the iteration.
constexpr auto counts = [](auto a, auto b) {
  return tn::fori_loop(5, [=](auto i, auto sum) { return sum * b + tn::cast<double>(i); }, a);
};
// The carries change places: one could not be written over the last one, so the iterations run one after the other.
constexpr auto swaps = [](auto a, auto b) {
  const auto iteration = [=](auto i, auto state) { return std::tuple{std::get<1>(state), std::get<0>(state) + tn::cast<double>(i) * a}; };
  return tn::fori_loop(5, iteration, std::tuple{a, b});
};

// A mask that stays the same.
constexpr auto masked = [](auto a, auto b, auto flags) {
  return tn::fori_loop(3, [=](auto, auto s) { return where(flags, s + b, s); }, a);
};

// Two columns of a row: neighbours in memory, but too few for a block that is transposed in registers.
constexpr auto two_columns = [](auto h, auto xs) {
  return std::get<0>(tn::scan([](auto c, auto x) { return std::tuple{c * x.at(tn::all, 0) + x.at(tn::all, 1), tn::nothing}; }, h, xs));
};

// A body of more instructions than clang takes operands in a fold.
constexpr auto long_iterations = [](auto y0, auto p) {
  const auto iteration = [=](auto, auto y) {
    for (int k = 0; k < 130; ++k) y = y * p.at(0) + p.at(1);
    return y;
  };
  return tn::fori_loop(3, iteration, y0);
};

// Its gradient adds to rows of p in each iteration: to one row twice, and to a part of a row. With `whole` it also adds to all rows.
template <bool Whole>
constexpr auto cell_of = [](auto p, auto h, auto xs) {
  const auto iteration = [=](auto state, auto x) {
    const auto gate = tn::sigmoid(state * p[1] + x * p[0]);
    auto next = gate * tanh(state * p[2]) + p[1];
    if constexpr (Whole) next = next + sum(p, tn::axis<0>) * 0.1;
    return std::tuple{next, next};
  };
  return sum(std::get<1>(tn::scan(iteration, h, xs)) * 0.5);
};
template <bool Whole>
constexpr auto gradients_of_cell = [](auto p, auto h, auto xs) { return tn::grad<0, 1, 2>(cell_of<Whole>)(p, h, xs); };
constexpr auto part_of_row = [](auto p, auto h, auto xs) {
  const auto cell = [](auto q, auto first, auto all) {
    const auto iteration = [=](auto state, auto x) { return std::tuple{sin(state * x) * q[1][tn::range<2, 12>()] + q[0][tn::range<0, 10>()], tn::nothing}; };
    return sum(std::get<0>(tn::scan(iteration, first, all)));
  };
  return tn::grad<0, 1>(cell)(p, h, xs);
};

// A cotangent that is a sum of 2^24 pads, or of 2^24 products, written with 24 additions.
constexpr auto doubled_rows = [](auto w, auto h, auto xs) {
  const auto loss = [](auto weight, auto first, auto all) {
    const auto iteration = [=](auto state, auto x) {
      auto v = weight;
      for (int k = 0; k < 24; ++k) v = v + v;
      return std::tuple{tanh(state * v[0] * 1e-7 + x), tn::nothing};
    };
    return sum(std::get<0>(tn::scan(iteration, first, all)));
  };
  return tn::grad<0>(loss)(w, h, xs);
};
constexpr auto doubled_weight = [](auto w, auto h, auto xs) {
  const auto loss = [](auto weight, auto first, auto all) {
    const auto iteration = [=](auto state, auto x) {
      auto v = weight;
      for (int k = 0; k < 24; ++k) v = v + v;
      return std::tuple{tanh(matmul(state, v) * 1e-7 + x), tn::nothing};
    };
    return sum(std::get<0>(tn::scan(iteration, first, all)));
  };
  return tn::grad<0>(loss)(w, h, xs);
};

template <class T>
vec<T> numbers(std::int64_t n, double first, double step) {
  vec<T> made(n);
  for (std::int64_t i = 0; i < n; ++i) made.at(i) = static_cast<T>(first + step * static_cast<double>(i));
  return made;
}
template <class T>
rows<T> table(std::int64_t m, std::int64_t n) {
  rows<T> made(m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) made.at(i, j) = static_cast<T>(0.01 * static_cast<double>((7 * i + 3 * j) % 41) - 0.2);
  return made;
}

template <class F, class... X>
using body_of = typename tn::program_detail::control_flow_at<tn::program<tn::detail::source_of<F, X...>>, 0>::template body<0>;
/// The second loop of a gradient, from the last iteration to the first.
template <class Program, int C = 0>
constexpr int index_of_pull() {
  if constexpr (tn::program_detail::control_flow_at<Program, C>::value.reverse) return C;
  else return index_of_pull<Program, C + 1>();
}
template <class Program>
using pull_in = tn::program_detail::control_flow_at<Program, index_of_pull<Program>()>;
}  // namespace

TEST_CASE("a loop whose body is one elementwise kernel keeps its carries in registers") {
  using tn::cpu_backend::detail::is_loop_of_kernel;
  CHECK(is_loop_of_kernel<body_of<std::remove_const_t<decltype(horner)>, vec<double>, vec<double>>, 1, 1, false>);
  CHECK(is_loop_of_kernel<body_of<std::remove_const_t<decltype(gates)>, vec<double>, rows<double>, vec<double>>, 2, 2, false>);
  CHECK(is_loop_of_kernel<body_of<std::remove_const_t<decltype(counts)>, vec<double>, vec<double>>, 1, 0, true>);
  using five = tn::tensor<std::int64_t, tn::shape<5>>;
  CHECK(is_loop_of_kernel<body_of<std::remove_const_t<decltype(masked)>, five, five, tn::tensor<bool, tn::shape<5>>>, 1, 0, false>);
  CHECK(is_loop_of_kernel<body_of<std::remove_const_t<decltype(two_columns)>, tn::tensor<float, tn::shape<1000>>, tn::tensor<float, tn::shape<200, 1000, 2>>>, 1, 1, false>);
}

// Law: each element is computed by the same instructions as in iterations that run one after the other.
TEST_CASE("iterations in registers give the results of the reference backend, for any number of elements and iterations") {
  for (const std::int64_t trip_count : {0, 1, 2, 7})
    for (const std::int64_t n : {0, 1, 3, 8, 9, 14, 16, 17, 20, 24, 33, 37, 64}) {
      INFO(trip_count << " iterations, " << n << " elements");
      judged::agrees_with_reference("horner", horner, numbers<double>(n, -1, 0.05), numbers<double>(trip_count, 0.5, -0.3));
      judged::agrees_with_reference("gates", gates, numbers<double>(n, -1, 0.05), table<double>(trip_count, n), numbers<double>(trip_count, 0.5, -0.3));
      judged::agrees_with_reference("counts", counts, numbers<double>(n, -1, 0.05), numbers<double>(n, 0.3, 0.01));
      judged::agrees_with_reference("swaps", swaps, numbers<double>(n, -1, 0.05), numbers<double>(n, 2, 0.25));
    }
  for (const std::int64_t n : {3, 37}) {
    tn::tensor<double, tn::shape<tn::dyn, tn::dyn, 2>> pairs(5, n);
    for (std::int64_t i = 0; i < 10 * n; ++i) pairs.at(i / (2 * n), i / 2 % n, i % 2) = 0.01 * static_cast<double>(7 * i % 41) - 0.2;
    judged::agrees_with_reference("two columns", two_columns, numbers<double>(n, -1, 0.05), pairs);
  }
  judged::agree(tn::compile(horner)(numbers<float>(37, -1, 0.05), numbers<float>(5, 0.5, -0.3)),
                judged::by_reference(horner, numbers<float>(37, -1, 0.05), numbers<float>(5, 0.5, -0.3)), 1e-5);
}

TEST_CASE("the gradient of an iteration that reads rows of a weight keeps the sums of the rows in registers") {
  using tn::cpu_backend::detail::is_loop_of_kernel;
  constexpr auto f = gradients_of_cell<false>;
  using weight = tn::tensor<double, tn::shape<3, tn::dyn>>;
  using pull = pull_in<tn::program<tn::detail::source_of<std::remove_const_t<decltype(f)>, weight, vec<double>, rows<double>>>>;
  CHECK(pull::value.carries == 1 + 3);
  CHECK(is_loop_of_kernel<pull::body<0>, pull::value.carries, pull::value.scanned, false>);
  for (const std::int64_t trip_count : {0, 1, 5})
    for (const std::int64_t n : {0, 1, 14, 20, 37}) {
      INFO(trip_count << " iterations, " << n << " elements");
      weight p(n);
      for (std::int64_t i = 0; i < 3 * n; ++i) p.at(i / n, i % n) = 0.02 * static_cast<double>((5 * i) % 37) - 0.3;
      judged::agrees_with_reference("rows", f, p, numbers<double>(n, -1, 0.05), table<double>(trip_count, n));
      judged::agrees_with_reference("rows and all", gradients_of_cell<true>, p, numbers<double>(n, -1, 0.05), table<double>(trip_count, n));
    }
  tn::tensor<double, tn::shape<3, 14>> p;
  for (std::int64_t i = 0; i < 42; ++i) p.at(i / 14, i % 14) = 0.01 * static_cast<double>(i);
  tn::tensor<double, tn::shape<10>> h = tn::arange<double>(tn::shape<10>{});
  tn::tensor<double, tn::shape<4, 10>> x = tn::full<double>(tn::shape<4, 10>{}, 0.3);
  judged::agrees_with_reference("a part of a row", part_of_row, p, h, x);
}

TEST_CASE("the cotangent of a weight may be a sum that adds one value again and again") {
  tn::tensor<double, tn::shape<2, 10>> w;
  for (std::int64_t i = 0; i < 20; ++i) w.at(i / 10, i % 10) = 0.02 * static_cast<double>(i) - 0.2;
  const tn::tensor<double, tn::shape<10>> h = tn::arange<double>(tn::shape<10>{});
  const tn::tensor<double, tn::shape<4, 10>> xs = tn::full<double>(tn::shape<4, 10>{}, 0.3);
  judged::agrees_with_reference("rows", doubled_rows, w, h, xs);
  const tn::tensor<double, tn::shape<10, 10>> square = tn::full<double>(tn::shape<10, 10>{}, 0.01);
  const tn::tensor<double, tn::shape<1, 10>> row = tn::full<double>(tn::shape<1, 10>{}, 0.5);
  const tn::tensor<double, tn::shape<4, 1, 10>> rows_of_one = tn::full<double>(tn::shape<4, 1, 10>{}, 0.3);
  judged::agrees_with_reference("a weight", doubled_weight, square, row, rows_of_one);
}

TEST_CASE("packets of an iteration behind the last element compute nothing") {
  const auto check = [](auto extent) {
    constexpr int n = extent;
    tn::tensor<std::int64_t, tn::shape<n>> a = tn::arange<std::int64_t>(tn::shape<n>{}), b = tn::full<std::int64_t>(tn::shape<n>{}, 7);
    tn::tensor<bool, tn::shape<n>> flags = tn::zeros<bool>(tn::shape<n>{});
    for (int i = 0; i < n; i += 3) flags.at(i) = true;
    judged::agrees_with_reference("masked", masked, a, b, flags);
  };
  check(std::integral_constant<int, 5>{});
  check(std::integral_constant<int, 14>{});
}

TEST_CASE("the body of a loop in registers may have any number of instructions") {
  using tn::cpu_backend::detail::is_loop_of_kernel;
  constexpr auto f = tn::vmap(long_iterations);
  tn::tensor<float, tn::shape<1000, 2>> p;
  for (std::int64_t i = 0; i < 2000; ++i) p.at(i / 2, i % 2) = 0.5f - 0.0004f * static_cast<float>(i);
  const tn::tensor<float, tn::shape<1000>> y = tn::arange<float>(tn::shape<1000>{});
  using program = tn::program<tn::detail::source_of<std::remove_const_t<decltype(f)>, tn::tensor<float, tn::shape<1000>>, tn::tensor<float, tn::shape<1000, 2>>>>;
  using body = tn::program_detail::control_flow_at<program, 1>::body<0>;  // 0 is that of one sample
  CHECK(is_loop_of_kernel<body, 1, 0, true>);
  judged::agree(tn::compile(f)(y, p), judged::by_reference(f, y, p), 1e-5);
}

TEST_CASE("the result of a call may be what the loop begins with") {
  auto h = numbers<double>(37, -1, 0.05);
  const auto x = numbers<double>(37, 2, 0.25);
  const auto expected = judged::by_reference(swaps, h, x);
  auto other = x.clone();
  tn::compile(swaps).into(h, other)(h, x);
  judged::agree(std::tuple{h.view(), other.view()}, expected);
}

TEST_CASE("a computed value that is a result twice is stored twice by the kernel that computes it") {
  constexpr auto f = tn::compile([](auto x) {
    const auto y = exp(x);
    return std::tuple{y, y};
  });
  using plan = decltype(f.plan(vec<double>()));
  CHECK(plan::kernels() == 1);
  const auto x = numbers<double>(5, 0, 1);
  const auto [a, b] = f(x);
  CHECK(a(3) == b(3));
  CHECK(a.data() != b.data());
}

namespace {

// Places of one weight that overlap, that go in steps, that two captures share, and one read twice; and the same with the iterations unrolled.
constexpr auto overlapping_iteration = [](auto p, auto q) {
  return [=](auto state, auto x) {
    const auto both = p + q;
    const auto next = tanh(state * p[tn::range<0, 10>()] + x * p[tn::range<1, 11>()]) * q[tn::range<0, 20, 2>()] + both[tn::range<3, 13>()] * p[tn::range<0, 10>()];
    return std::tuple{next, next};
  };
};
template <bool Reverse>
constexpr auto by_scan = [](auto p, auto q, auto h, auto xs) {
  const auto [last, all] = tn::scan(overlapping_iteration(p, q), h, xs, {.reverse = Reverse});
  return sum(square(last)) + sum(all * 0.5);
};
template <bool Reverse>
constexpr auto unrolled = [](auto p, auto q, auto h, auto xs) {
  const auto iteration = overlapping_iteration(p, q);
  constexpr auto at = [](int i) { return Reverse ? 2 - i : i; };
  const auto [a, ya] = iteration(h, xs[at(0)]);
  const auto [b, yb] = iteration(a, xs[at(1)]);
  const auto [c, yc] = iteration(b, xs[at(2)]);
  return sum(square(c)) + sum(ya * 0.5) + sum(yb * 0.5) + sum(yc * 0.5);
};
template <auto F>
constexpr auto slopes = [](auto p, auto q, auto h, auto xs) { return tn::grad<0, 1, 2>(F)(p, q, h, xs); };
template <auto F>
constexpr auto second = [](auto p, auto q, auto h, auto xs) {
  return tn::grad<0, 1>([](auto a, auto b, auto c, auto d) {
    const auto [da, db, dc] = tn::grad<0, 1, 2>(F)(a, b, c, d);
    return sum(square(da)) + sum(sin(db)) + sum(dc);
  })(p, q, h, xs);
};
template <auto F>
constexpr auto of_samples = [](auto p, auto q, auto h, auto xs) { return tn::vmap<tn::unmapped, tn::unmapped, 0, tn::unmapped>(slopes<F>)(p, q, h, xs); };

template <class F, class G, class... X>
void agree_on(const char* name, F f, G g, const X&... x) {
  INFO(name);
  judged::agree(tn::compile(f)(x...), judged::results(tn::compile(g), x...));
}

}  // namespace

TEST_CASE("Law: the gradient of an iteration that reads places of a weight is that of the unrolled loop") {
  tn::tensor<double, tn::shape<20>> p, q;
  for (std::int64_t i = 0; i < 20; ++i) p.at(i) = 0.05 * static_cast<double>(i % 7) - 0.1, q.at(i) = 0.3 - 0.04 * static_cast<double>(i % 9);
  tn::tensor<double, tn::shape<10>> h = tn::arange<double>(tn::shape<10>{});
  tn::tensor<double, tn::shape<3, 10>> xs;
  for (std::int64_t i = 0; i < 30; ++i) xs.at(i / 10, i % 10) = 0.2 * static_cast<double>(i % 11) - 1.0;
  agree_on("forward", slopes<by_scan<false>>, slopes<unrolled<false>>, p, q, h, xs);
  agree_on("reverse", slopes<by_scan<true>>, slopes<unrolled<true>>, p, q, h, xs);
  agree_on("second", second<by_scan<false>>, second<unrolled<false>>, p, q, h, xs);
  tn::tensor<double, tn::shape<2, 10>> starts;
  for (std::int64_t i = 0; i < 20; ++i) starts.at(i / 10, i % 10) = 0.1 * static_cast<double>(i);
  agree_on("samples", of_samples<by_scan<false>>, of_samples<unrolled<false>>, p, q, starts, xs);
}

namespace {
// Rows and columns of one weight, both as eight numbers in a row: the same number of elements, in other places.
constexpr auto rows_and_columns = [](auto w, auto h) {
  const auto iteration = [=](auto, auto state) {
    const auto rows = reshape<8>(w[tn::range<0, 2>()]), columns = reshape<8>(w.at(tn::all, tn::range<0, 2>()));
    const auto others = reshape<8>(w.at(tn::all, tn::range<0, 4, 2>()));
    return tanh(state * rows + 0.5 * columns) * others;
  };
  return sum(square(tn::fori_loop(3, iteration, h)));
};
}  // namespace

TEST_CASE("places of a weight that have one shape behind other views are summed apart") {
  tn::tensor<double, tn::shape<4, 4>> w;
  tn::tensor<double, tn::shape<8>> h;
  for (std::int64_t i = 0; i < 16; ++i) w.at(i / 4, i % 4) = std::sin(static_cast<double>(i)), h.at(i / 2) = 0.1 * static_cast<double>(i);
  judged::agrees_with_reference("gradient", tn::value_and_grad<0, 1>(rows_and_columns), w, h);
  const auto slope = tn::grad<0>(rows_and_columns)(w, h);
  const auto value = tn::compile(rows_and_columns);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      CAPTURE(i, j);
      const double kept = w(i, j), step = 1e-6;
      w.at(i, j) = kept + step;
      const double more = value(w, h).item();
      w.at(i, j) = kept - step;
      const double less = value(w, h).item();
      w.at(i, j) = kept;
      CHECK(slope(i, j) == Approx((more - less) / (2 * step)).epsilon(1e-6).margin(1e-8));
    }
}

namespace {
/// An iteration reads the columns of a matrix that stays the same: as many neighbouring numbers of each row as some packet has lanes.
template <class T, int Columns>
void judge_columns() {
  constexpr auto trip_count = [](auto w, auto h) {
    const auto iteration = [=](auto, auto state) {
      auto sum = state * 0.5;
      [&]<int... C>(std::integer_sequence<int, C...>) { ((sum = sin(sum) + w.at(tn::all, C)), ...); }(std::make_integer_sequence<int, Columns>{});
      return sum;
    };
    return tn::fori_loop(3, iteration, h);
  };
  INFO(Columns << " columns of " << sizeof(T) << " bytes");
  tn::tensor<T, tn::shape<tn::dyn, Columns>> w(tn::uninitialized, 70);
  vec<T> h(tn::uninitialized, 70);
  T next = 0;
  for (T& x : tn::as_span(w)) x = std::sin(next += T(0.37));
  for (T& x : tn::as_span(h)) x = std::sin(next += T(0.41));
  judged::agree(tn::compile(trip_count)(w, h), judged::by_reference(trip_count, w, h), sizeof(T) == 4 ? 1e-5 : 1e-12);
}
}  // namespace

TEST_CASE("an iteration may read neighbouring columns of a matrix") {
  judge_columns<double, 4>();
  judge_columns<float, 16>();
  if constexpr (quick::takes(1)) judge_columns<double, 2>();
  if constexpr (quick::takes(1)) judge_columns<double, 8>();
  if constexpr (quick::takes(1)) judge_columns<float, 4>();
  if constexpr (quick::takes(1)) judge_columns<float, 8>();
}
