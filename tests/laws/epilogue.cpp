// SPDX-License-Identifier: BSL-1.0
// Laws of kernels that run as the epilogue of the product before them: products of a megabyte and more, alone in a step below.
#include <cstring>

#include <tenure/threads.hpp>

#include "../difference.hpp"
#include "agree.hpp"

// The rules are those of a type with other packets, and a type takes ten seconds to compile and half a minute to run.
#ifdef TENURE_QUICK_TESTS
#define EPILOGUE_TYPES float
#else
#define EPILOGUE_TYPES double, float
#endif

using namespace laws;

namespace {

constexpr auto biased = [](auto x, auto w, auto b) { return relu(matmul(x, w) + b); };
constexpr auto flat = [](auto x, auto w) { return tanh(matmul(x, w)); };
constexpr auto kept = [](auto x, auto w, auto b) {
  const auto z = matmul(x, w) + b;
  return std::tuple{z, sigmoid(z), matmul(x, w)};
};
constexpr auto over_rows = [](auto x, auto w, auto b) { return softmax(matmul(x, w) * 0.5 + b, tn::axis<1>); };
constexpr auto reducing = [](auto x, auto w, auto b) {
  const auto z = tanh(matmul(x, w) + b);
  return std::tuple{sum(square(z)), sum(z, tn::axis<0>), sum(z, tn::axis<1>)};
};
constexpr auto with_sums = [](auto x, auto w, auto b) {
  const auto z = relu(matmul(x, w) + b);
  return std::tuple{sum(z), sum(z, tn::axis<0>), z};
};
constexpr auto updated = [](auto x, auto d, auto w) { return w - 0.125 * matmul(x.transpose(), d); };
constexpr auto masks = [](auto x, auto w) { return matmul(x, w) > 0; };
constexpr auto loss = tn::value_and_grad<1, 2>([](auto x, auto w, auto b, auto v) { return mean(square(matmul(relu(matmul(x, w) + b), v))); });

/// Steps of a call that are epilogues.
template <class F, class... X>
constexpr int epilogues_of(const F&, const X&...) {
#if TENURE_BLAS || defined(__CUDACC__)
  return -1;
#else
  using program = tn::program<tn::detail::source_of<F, X...>>;
  int n = 0;
  for (int s = 0; s < program::step_count; ++s) n += program::groups.at[s].is_of_product();
  return n;
#endif
}
template <class F, class... X>
void has_one(const F& f, const X&... x) {
  const int n = epilogues_of(f, x...);
  if (n >= 0) REQUIRE(n >= 1);
}

template <class X>
difference same_bits(const X& a, const X& b) { return first_difference(a.data(), b.data(), a.size()); }

}  // namespace

TEMPLATE_TEST_CASE("epilogues of static products agree with the reference", "", EPILOGUE_TYPES) {
  const auto x = filled<TestType>(shape<2049, 11>{}, 1);
  const auto d = filled<TestType>(shape<2049, 131>{}, 2);
  const auto w = filled<TestType>(shape<11, 131>{}, 3);
  const auto b = filled<TestType>(shape<131>{}, 4);
  const auto v = filled<TestType>(shape<131, 3>{}, 5);
  has_one(biased, x, w, b);
  agrees(tn::compile(biased), x, w, b);
  has_one(flat, x, w);
  agrees(tn::compile(flat), x, w);
  has_one(over_rows, x, w, b);
  agrees(tn::compile(over_rows), x, w, b);
  has_one(reducing, x, w, b);
  agrees(tn::compile(reducing), 2048.0, x, w, b);
  agrees(tn::compile(kept), x, w, b);
  agrees(tn::compile(masks), 0.0, x, w);
  agrees(loss, 2048.0, x, w, b, v);
  const auto wide = filled<TestType>(shape<11, 2049>{}, 6);
  const auto other = filled<TestType>(shape<11, 131>{}, 7);
  const auto state = filled<TestType>(shape<2049, 131>{}, 8);
  has_one(updated, wide, other, state);
  agrees(tn::compile(updated), wide, other, state);
}

#if !TENURE_BLAS && !defined(__CUDACC__)
TEST_CASE("a product has the memory for the panels that it packs") {
  const auto x = filled<float>(shape<90, 200>{}, 1);
  const auto w = filled<float>(shape<130, 200>{}, 2);
  using plan = decltype(tn::compile([](auto x, auto w) { return matmul(x, w.transpose()); }).plan(x, w));
  CHECK(tn::cpu_backend::matmul_workspace<float>(90, 130, 200) > 0);
  CHECK(plan::workspace_bytes() >= tn::cpu_backend::matmul_workspace<float>(90, 130, 200));
}
#endif

TEMPLATE_TEST_CASE("epilogues of run-time products agree with the reference", "", float) {
  const auto of = [](std::uint64_t seed, std::int64_t m, std::int64_t n) { return filled<TestType>(shape<dyn, dyn>{}, seed, m, n); };
  struct extents { std::int64_t m, k, n; };
  for (const extents e : {extents{70, 3, 5}, {1, 2, 270000}, {270001, 1, 1}, {140000, 1, 2}, {1400, 0, 200}, {64, 2, 4100}, {2731, 5, 97}, {513, 60, 600}}) {
    INFO(e.m << " x " << e.k << " x " << e.n);
    const auto x = of(1, e.m, e.k);
    const auto w = of(2, e.k, e.n);
    const auto b = filled<TestType>(shape<dyn>{}, 3, e.n);
    agrees(tn::compile(biased), 2048.0, x, w, b);
    if (e.k < 5) continue;
    agrees(tn::compile(over_rows), 2048.0, x, w, b);
    agrees(tn::compile(reducing), 4096.0, x, w, b);
    agrees(tn::compile(kept), 2048.0, x, w, b);
    agrees(tn::compile(updated), 2048.0, of(4, e.k, e.m), of(5, e.k, e.n), of(6, e.m, e.n));
    agrees(tn::compile([](auto a, auto b) { return exp(matmul(a, b.transpose()).transpose() * 0.125); }), 2048.0, x, of(7, e.n, e.k));
  }
}

// Law: the bits are the same as with one step after the other.
TEMPLATE_TEST_CASE("an epilogue has the bits of one step after the other, on any number of threads", "", EPILOGUE_TYPES) {
  const auto x = filled<TestType>(shape<dyn, 24>{}, 1, 4097);
  const auto w = filled<TestType>(shape<24, 100>{}, 2);
  const auto b = filled<TestType>(shape<100>{}, 3);
  const auto product = tn::compile([](auto x, auto w) { return matmul(x, w); })(x, w);
  const auto after = tn::compile([](auto z, auto b) { return relu(z + b); })(product, b);
  REQUIRE(same_bits(tn::compile(biased)(x, w, b), after));
  const auto turned = filled<TestType>(shape<127, 24>{}, 4);  // the last row would be a block of its own, and another kind of product
  const auto even = tn::compile([](auto x, auto w) { return matmul(x, w.transpose()); })(x, turned);
  const auto through = tn::compile([](auto x, auto w) { return tanh(matmul(x, w.transpose())); })(x, turned);
  REQUIRE(same_bits(through, tn::compile([](auto z) { return tanh(z); })(even)));
  for (int threads : {1, 2, 3, 8}) {
    const tn::thread_pool pool(threads, 0);
    REQUIRE(same_bits(tn::compile(biased, pool)(x, w, b), after));
    REQUIRE(same_bits(tn::compile(flat, pool)(x, w), tn::compile(flat)(x, w)));
    const auto [total, columns, rows] = tn::compile(reducing, pool)(x, w, b);
    const auto [total_1, columns_1, rows_1] = tn::compile(reducing)(x, w, b);
    REQUIRE(same_bits(total, total_1));
    REQUIRE(same_bits(columns, columns_1));
    REQUIRE(same_bits(rows, rows_1));
  }
}

TEMPLATE_TEST_CASE("an epilogue writes into what its product or itself reads only where that is safe", "", EPILOGUE_TYPES) {
  const auto w = filled<TestType>(shape<300, 300>{}, 2, -0.1, 0.1);
  const auto b = filled<TestType>(shape<300>{}, 3);
  const auto old = filled<TestType>(shape<1200, 300>{}, 4);
  auto x = filled<TestType>(shape<1200, 300>{}, 1);
  const auto wanted = tn::compile(biased)(x, w, b);
  tn::compile(biased).into(x)(x, w, b);  // the left factor
  REQUIRE(same_bits(x, wanted));

  const auto d = filled<TestType>(shape<7, 1200>{}, 5);
  const auto e = filled<TestType>(shape<7, 300>{}, 6);
  // The blocks of sums follow from shapes, not from where results lie.
  const auto [total, columns, elements] = tn::compile(with_sums)(old, w, b);
  auto z = old.clone();
  tn::tensor<TestType, shape<>> total_of_z;
  tn::tensor<TestType, shape<300>> columns_of_z;
  tn::compile(with_sums).into(total_of_z, columns_of_z, z)(z, w, b);
  REQUIRE(same_bits(z, elements));
  REQUIRE(same_bits(total_of_z, total));
  REQUIRE(same_bits(columns_of_z, columns));

  auto state = old.clone();
  const auto moved = tn::compile(updated)(d, e, state);
  tn::compile(updated).into(state)(d, e, state);  // what the kernel reads
  REQUIRE(same_bits(state, moved));

  // Of a megabyte, the least that has an epilogue: with as many rows as the right factor, a larger one has too long sums for it.
  constexpr std::int64_t n = 2048 / sizeof(TestType);
  const auto left = filled<TestType>(shape<512, 512>{}, 7, -0.1, 0.1);
  auto right = filled<TestType>(shape<512, n>{}, 8, -0.1, 0.1);
  REQUIRE(tn::passes::cut_of_rows({}, 512, n, 512, sizeof(TestType), 3, nullptr).rows_of_block == 128);
  const auto by_right = tn::compile(flat)(left, right);
  tn::compile(flat).into(right)(left, right);
  REQUIRE(same_bits(right, by_right));
}

// The temporary has the memory of the product that its kernel reads. A result of this kernel lies in what the kernel reads too, so the blocks of the
// product cannot be computed there.
TEMPLATE_TEST_CASE("an epilogue writes a temporary over its product", "", EPILOGUE_TYPES) {
  constexpr auto first = [](auto x, auto w, auto s, auto v) {
    const auto z = matmul(x, w);
    return std::tuple{z + s, matmul(tanh(z), v)};
  };
  constexpr auto last = [](auto x, auto w, auto s, auto v) {
    const auto z = matmul(x, w), t = tanh(z);
    return std::tuple{t + s, matmul(t, v)};
  };
  const auto x = filled<TestType>(shape<2049, 24>{}, 1);
  const auto w = filled<TestType>(shape<24, 200>{}, 2);
  const auto old = filled<TestType>(shape<2049, 200>{}, 3);
  const auto v = filled<TestType>(shape<200, 7>{}, 4);
  const auto runs_apart = [&](const auto& f, const auto& sum, const auto& product) {
    has_one(f, x, w, old, v);
    using plan = decltype(tn::compile(f).plan(x, w, old, v));
    CHECK(plan::workspace_bytes() < static_cast<std::int64_t>(2049 * 200 * sizeof(TestType)) * 3 / 2);
    const auto [a, b] = tn::compile(f)(x, w, old, v);
    CHECK(same_bits(a, sum));
    CHECK(same_bits(b, product));
    auto state = old.clone();
    tn::tensor<TestType, shape<2049, 7>> of_product;
    tn::compile(f).into(state, of_product)(x, w, state, v);
    CHECK(same_bits(state, sum));
    CHECK(same_bits(of_product, product));
  };
  const auto z = tn::compile([](auto x, auto w) { return matmul(x, w); })(x, w);
  const auto t = tn::compile([](auto z) { return tanh(z); })(z);
  const auto product = tn::compile([](auto t, auto v) { return matmul(t, v); })(t, v);
  const auto add = tn::compile([](auto a, auto s) { return a + s; });
  // Layers with a residual: the sum could lie in a factor of the product too, and then the product would be computed as a whole first.
  const auto square = filled<TestType>(shape<200, 200>{}, 5, -0.1, 0.1);
  constexpr auto layers = [](auto x, auto w) {
    auto h = exp(-x);
    for (int i = 0; i < 3; ++i) h = h + tanh(matmul(h, w));
    return h;
  };
  agrees(tn::compile(layers), 2048.0, old, square);
#if !TENURE_BLAS && !defined(__CUDACC__)
  using program = tn::program<tn::detail::source_of<decltype(layers), decltype(old), decltype(square)>>;
  for (int s = 0; s < program::step_count; ++s) {
    const auto& e = program::groups.at[s];
    CHECK((!e.is_of_product() || !e.is_passed_on || e.overwritten_by >= 0));
  }
#endif
  runs_apart(first, add(z, old), product);
  runs_apart(last, add(t, old), product);
}
