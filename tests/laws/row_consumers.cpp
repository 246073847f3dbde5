// SPDX-License-Identifier: BSL-1.0
// Laws of products that add up the rows of an epilogue: gradients of linear models, fusion groups, second derivatives.
#include <cstring>

#include <tenure/threads.hpp>

#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

namespace {

constexpr auto squares = [](auto x, auto y, auto w) { return sum(square(matmul(x, w) - y)); };
constexpr auto logistic = [](auto x, auto y, auto w) {
  const auto z = matmul(x, w);
  return mean(softplus(z) - y * z);
};
constexpr auto biased = [](auto x, auto y, auto w, auto b) {
  const auto z = matmul(x, w) + b;
  return mean(softplus(z) - y * z);
};
constexpr auto classes = [](auto x, auto y, auto w, auto b) { return mean(sum(-y * log_softmax(matmul(x, w) + b, tn::axis<1>), tn::axis<1>)); };
constexpr auto groups = [](auto p, auto c) { return sum(amin(sum(square(c), tn::axis<1>) - 2.0 * matmul(p, transpose(c)), tn::axis<1>)); };
constexpr auto of_squares = [](auto x, auto y, auto w) { return tn::value_and_grad<2>(squares)(x, y, w); };
constexpr auto of_logistic = [](auto x, auto y, auto w) { return tn::value_and_grad<2>(logistic)(x, y, w); };
constexpr auto of_biased = [](auto x, auto y, auto w, auto b) { return tn::value_and_grad<2, 3>(biased)(x, y, w, b); };
constexpr auto of_classes = [](auto x, auto y, auto w, auto b) { return tn::value_and_grad<2, 3>(classes)(x, y, w, b); };
constexpr auto of_fusion_groups = [](auto p, auto c) { return tn::value_and_grad<1>(groups)(p, c); };
constexpr auto slope = [](auto x, auto y, auto w) { return tn::grad<2>(squares)(x, y, w); };
constexpr auto step = [](auto x, auto y, auto w) { return w - 0.125 * tn::grad<2>(squares)(x, y, w); };
// The rows are a result; a later step reads them; two products read them; two products read different ones; a product reads the first product.
constexpr auto kept = [](auto x, auto y, auto w) {
  const auto r = tanh(matmul(x, w) - y);
  return std::tuple{matmul(transpose(x), r), r};
};
constexpr auto read_later = [](auto x, auto y, auto w) {
  const auto r = tanh(matmul(x, w) - y);
  const auto g = matmul(transpose(x), r);
  return std::tuple{g, r * sum(g)};
};
constexpr auto twice = [](auto x, auto y, auto w, auto v) {
  const auto r = tanh(matmul(x, w) - y);
  return std::tuple{matmul(transpose(x), r), matmul(transpose(v), r)};
};
constexpr auto both = [](auto x, auto y, auto w, auto v) {
  const auto z = matmul(x, w), r = tanh(z - y), s = exp(-square(r));
  return std::tuple{matmul(transpose(x), r), matmul(transpose(v), s)};
};
constexpr auto as_left = [](auto x, auto w, auto v) { return matmul(transpose(tanh(matmul(x, w))), v); };
constexpr auto dot = [](auto x, auto y, auto w) { return matmul(tanh(matmul(x, w)), y); };
constexpr auto in_columns = [](auto x, auto y, auto w) { return matmul(x, tanh(matmul(transpose(x), w) - y)); };
constexpr auto by_itself = [](auto x, auto w) {
  const auto t = tanh(matmul(x, w));
  return matmul(transpose(t), t);
};
constexpr auto chained = [](auto x, auto w) {
  const auto t = tanh(matmul(x, w));
  const auto g = matmul(transpose(t), x);
  return std::tuple{g, matmul(t, g)};
};

/// How many products of a call add up rows of an epilogue.
template <class F, class... X>
constexpr int consumers_of(const F&, const X&...) {
#if TENURE_BLAS || defined(__CUDACC__)
  return -1;
#else
  using program = tn::program<tn::detail::source_of<F, X...>>;
  int n = 0;
  for (int s = 0; s < program::step_count; ++s) n += program::groups.at[s].consumer_count;
  return n;
#endif
}
template <class F, class... X>
void has(int wanted, const F& f, const X&... x) {
  if (const int n = consumers_of(f, x...); n >= 0) CHECK(n == wanted);
}

template <class X, class Y>
difference same_bits(const X& a, const Y& b) { return first_difference(a.data(), b.data(), a.size()); }

}  // namespace

TEMPLATE_TEST_CASE("products over the rows of an epilogue agree with the reference", "", double, float) {
  const auto of = [](std::uint64_t seed, std::int64_t m, std::int64_t n) { return filled<TestType>(shape<dyn, dyn>{}, seed, m, n); };
  const auto vector_of = [](std::uint64_t seed, std::int64_t n) { return filled<TestType>(shape<dyn>{}, seed, n); };
  const auto number = filled<TestType>(shape<>{}, 9);
  struct extents { std::int64_t m, d; };
  for (const extents e : {extents{1, 3}, {63, 5}, {200000, 1}, {150001, 4}, {65537, 7}, {40007, 16}, {20033, 30}, {5003, 130}, {1025, 1000}, {65, 9001}}) {
    INFO(e.m << " x " << e.d);
    const auto x = of(1, e.m, e.d);
    const auto y = vector_of(2, e.m), w = vector_of(3, e.d);
    has(1, of_squares, x, y, w);
    agrees(tn::compile(of_squares), 65536.0, x, y, w);
    agrees(tn::compile(of_logistic), 65536.0, x, y, w);
    has(1, of_biased, x, y, w, number);
    agrees(tn::compile(of_biased), 65536.0, x, y, w, number);
    has(1, step, x, y, w);
    agrees(tn::compile(step), 65536.0, x, y, w);
  }
  const auto x = of(1, 5001, 60), v = of(4, 5001, 13);
  const auto y = vector_of(2, 5001), w = vector_of(3, 60);
  has(1, kept, x, y, w);
  agrees(tn::compile(kept), 65536.0, x, y, w);
  has(1, read_later, x, y, w);
  agrees(tn::compile(read_later), 65536.0, x, y, w);
  has(2, twice, x, y, w, v);
  agrees(tn::compile(twice), 65536.0, x, y, w, v);
  has(2, both, x, y, w, v);
  agrees(tn::compile(both), 65536.0, x, y, w, v);
  agrees(tn::compile(dot), 65536.0, x, y, w);
  const auto wide = of(5, 60, 5001);
  agrees(tn::compile(in_columns), 65536.0, wide, y, w);
  const auto c = of(6, 60, 33), centers = of(8, 33, 60);
  const auto b = vector_of(7, 33);
  agrees(tn::compile(of_classes), 65536.0, x, tn::eval(tn::softmax(of(9, 5001, 33), tn::axis<1>)), c, b);
  has(1, of_fusion_groups, x, centers);
  agrees(tn::compile(of_fusion_groups), 65536.0, x, centers);
  has(1, as_left, x, c, v);
  agrees(tn::compile(as_left), 65536.0, x, c, v);
  has(0, by_itself, x, c);
  agrees(tn::compile(by_itself), 65536.0, x, c);
  agrees(tn::compile(chained), 65536.0, x, of(6, 60, 60));
}

TEMPLATE_TEST_CASE("products over rows of static extents agree with the reference", "", double) {
  const auto x = filled<TestType>(shape<9001, 40>{}, 1);
  const auto y = filled<TestType>(shape<9001>{}, 2);
  const auto w = filled<TestType>(shape<40>{}, 3);
  has(1, of_squares, x, y, w);
  agrees(tn::compile(of_squares), 65536.0, x, y, w);
  // Small ones stay as they are.
  agrees(tn::compile(of_squares), filled<TestType>(shape<90, 4>{}, 1), filled<TestType>(shape<90>{}, 2), filled<TestType>(shape<4>{}, 3));
}

// Law: only shapes decide which rows are added at a time, so the bits do not depend on the number of threads, nor on the memory of results.
TEMPLATE_TEST_CASE("products over rows have the same bits on any number of threads, and those of one step after the other but for the parts of sums", "", double, float) {
  struct extents { std::int64_t m, d; };
  for (const extents e : {extents{150001, 4}, {9973, 50}, {1025, 700}}) {
    INFO(e.m << " x " << e.d);
    const auto x = filled<TestType>(shape<dyn, dyn>{}, 1, e.m, e.d);
    const auto y = filled<TestType>(shape<dyn>{}, 2, e.m), w = filled<TestType>(shape<dyn>{}, 3, e.d);
    const auto z = tn::compile([](auto x, auto w) { return matmul(x, w); })(x, w);
    const auto r = tn::compile([](auto z, auto y) { return tanh(z - y); })(z, y);
    const auto g = tn::compile([](auto x, auto r) { return matmul(transpose(x), r); })(x, r);
    const auto alone = tn::compile(kept)(x, y, w);
    const auto [total, slope_of_w, slope_of_b] = tn::compile(of_biased)(x, y, w, TestType(0.5));
    for (int threads : {0, 1, 2, 3}) {
      const tn::thread_pool pool(threads < 1 ? 1 : threads, 0);
      const auto found = threads == 0 ? tn::compile(kept)(x, y, w) : tn::compile(kept, pool)(x, y, w);
      for (std::int64_t j = 0; j < e.d; ++j) CHECK(std::fabs(std::get<0>(found).data()[j] - g.data()[j]) <= static_cast<double>(e.m) * (sizeof(TestType) == 8 ? 1e-14 : 1e-5));
      CHECK(same_bits(std::get<1>(found), r));
      if (threads == 0) continue;
      CHECK(same_bits(std::get<0>(found), std::get<0>(alone)));
      const auto [total_1, slope_of_w_1, slope_of_b_1] = tn::compile(of_biased, pool)(x, y, w, TestType(0.5));
      CHECK(same_bits(total_1, total));
      CHECK(same_bits(slope_of_w_1, slope_of_w));
      CHECK(same_bits(slope_of_b_1, slope_of_b));
    }
  }
}

TEMPLATE_TEST_CASE("a product over rows writes into what the steps before it read only where that is safe", "", double, float) {
  // The gradient has as many elements as the weights, as the targets, and as the points in a square.
  const auto x = filled<TestType>(shape<dyn, dyn>{}, 1, -0.05, 0.05, 1024, 1024);
  const auto y = filled<TestType>(shape<dyn>{}, 2, 1024);
  const auto w = filled<TestType>(shape<dyn>{}, 3, 1024);
  has(1, slope, x, y, w);
  const auto wanted = tn::compile(slope)(x, y, w);
  auto over_weights = w.clone();
  tn::compile(slope).into(over_weights)(x, y, over_weights);
  CHECK(same_bits(over_weights, wanted));
  auto over_targets = y.clone();
  tn::compile(slope).into(over_targets)(x, over_targets, w);
  CHECK(same_bits(over_targets, wanted));
  auto stepped = w.clone();
  const auto next = tn::compile(step)(x, y, w);
  tn::compile(step).into(stepped)(x, y, stepped);
  CHECK(same_bits(stepped, next));
  // A part of an array whose other part the product reads.
  auto whole = filled<TestType>(shape<dyn>{}, 3, 2048);
  auto first = whole.at(tn::range(0, 1024));
  auto second = whole.at(tn::range(1024, 2048));
  const auto by_second = tn::compile(slope)(x, y, second.clone());
  tn::compile(slope).into(first)(x, y, second);
  CHECK(same_bits(first, by_second));
  // The rows that are kept lie in the targets.
  auto rows = y.clone();
  auto sums = w.clone();
  const auto [g, r] = tn::compile(kept)(x, y, w);
  tn::compile(kept).into(sums, rows)(x, rows, sums);
  CHECK(same_bits(sums, g));
  CHECK(same_bits(rows, r));
}

// Found by a reader who set out to break them.
TEMPLATE_TEST_CASE("a product that reads some of the rows, or a factor that dies, is not mistaken", "", double) {
  constexpr auto of_some_rows = [](auto x, auto w, auto v) {
    const auto r = tanh(matmul(x, w));
    return matmul(transpose(v), r[tn::range<0, 4000>()]);
  };
  const auto x = filled<TestType>(shape<dyn, dyn>{}, 1, 5001, 60);
  const auto c = filled<TestType>(shape<dyn, dyn>{}, 2, 60, 9);
  has(0, of_some_rows, x, c, filled<TestType>(shape<4000, 7>{}, 3));
  agrees(tn::compile(of_some_rows), 65536.0, x, c, filled<TestType>(shape<4000, 7>{}, 3));
  // The second sum takes the memory of u, which only the first one reads: of the exponential in the workspace, and of an argument.
  constexpr auto over_a_factor = [](auto x, auto y, auto w, auto of_u, auto v) {
    const auto u = exp(of_u);
    const auto z = matmul(x, w);
    const auto r = tanh(z - y), s = exp(-square(z));
    const auto first = matmul(transpose(u), r);
    return std::tuple{first, sum(square(matmul(transpose(v), s)))};
  };
  constexpr auto over_an_argument = [](auto x, auto y, auto w, auto u, auto v) {
    const auto z = matmul(x, w);
    const auto r = tanh(z - y), s = exp(-square(z));
    return std::tuple{matmul(transpose(u), r), matmul(transpose(v), s)};
  };
  const auto points = filled<TestType>(shape<5001, 60>{}, 4, -1.0, 1.0), v = filled<TestType>(shape<5001, 60>{}, 5, -1.0, 1.0);
  const auto y = filled<TestType>(shape<5001, 33>{}, 6, -1.0, 1.0);
  const auto w = filled<TestType>(shape<60, 33>{}, 7, -0.1, 0.1);
  const auto u = filled<TestType>(shape<5001, 4>{}, 8, -1.0, 1.0);
  has(2, over_a_factor, points, y, w, u, v);
  agrees(tn::compile(over_a_factor), 65536.0, points, y, w, u, v);
  const auto [first, second] = tn::compile(over_an_argument)(points, y, w, u, v);
  auto factor = u.clone();
  auto begin_of_factor = factor.template reshape<20004>()[tn::range<0, 1980>()].template reshape<60, 33>();
  tn::tensor<TestType, shape<4, 33>> found;
  tn::compile(over_an_argument).into(found, begin_of_factor)(points, y, w, factor, v);
  CHECK(same_bits(found, first));
  CHECK(same_bits(begin_of_factor, second));
  // No columns, and a wide factor whose last row would be another kind of product.
  constexpr auto left = [](auto x, auto w) { return matmul(transpose(x), tanh(matmul(x, w))); };
  CHECK(tn::compile(left)(x, tn::zeros<TestType>(shape<dyn, dyn>{}, 60, 0)).size() == 0);
  constexpr auto by_columns = [](auto x, auto w) { return matmul(x, tanh(matmul(transpose(x), w))); };
  for (const std::int64_t m : {5121, 6145}) {
    const auto t = filled<TestType>(shape<dyn, dyn>{}, 8, 60, m);
    const auto w = filled<TestType>(shape<dyn>{}, 9, 60);
    agrees(tn::compile(by_columns), 65536.0, t, w);
    const auto rows = tn::compile([](auto x, auto w) { return tanh(matmul(transpose(x), w)); });
    const auto both_of = tn::compile([](auto x, auto w) {
      const auto r = tanh(matmul(transpose(x), w));
      return std::tuple{matmul(x, r), r};
    });
    const tn::thread_pool pool(2, 0);
    const auto found = both_of(t, w);
    CHECK(same_bits(std::get<1>(found), rows(t, w)));
  }
}

TEMPLATE_TEST_CASE("products over rows with NaN, infinite and tiny numbers", "", double) {
  auto x = filled<TestType>(shape<dyn, dyn>{}, 1, 9001, 40);
  const auto y = filled<TestType>(shape<dyn>{}, 2, 9001), w = filled<TestType>(shape<dyn>{}, 3, 40);
  TestType* const at = tn::detail::tensor_access::write(x, "test");
  at[40 * 77 + 3] = std::numeric_limits<TestType>::quiet_NaN();
  agrees(tn::compile(kept), 65536.0, x, y, w);
  at[40 * 77 + 3] = std::numeric_limits<TestType>::infinity();
  at[40 * 8000 + 5] = 1e-310;
  agrees(tn::compile(kept), 65536.0, x, y, w);
  agrees(tn::compile(of_squares), 65536.0, x, y, w);
}
