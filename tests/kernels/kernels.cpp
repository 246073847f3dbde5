// SPDX-License-Identifier: BSL-1.0
// Every kind of kernel, run on the host over all its blocks and threads, against the reference backend.
#include <cmath>
#include <limits>

#include "check.hpp"

namespace tn = tenure;

namespace {

using by_kernels::array, by_kernels::check, by_kernels::some;

/// The kernel of a function that is one.
template <class F, class... X>
auto kernel_of(F f, const X&... x) {
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  static_assert(program::kernel_count == 1);
  return tn::kernels::fused<typename program::template code_of<0>>{};
}

constexpr auto share = [](auto a) { return a / sum(a, tn::axis<1>, tn::keepdim); };

}  // namespace

TEST_CASE("elements: several results, with ends that fill no packet") {
  const auto f = [](auto a, auto b) { return std::tuple{sigmoid(a * b) + 1.0, exp(a), a < b}; };
  check(f, some<float, 5>(), some<float, 5>());
  check(f, some<float, 1003>(), some<float, 1003>());
  check(f, some<double, 7, 33>(), some<double, 7, 33>());
}

TEST_CASE("elements: functions with several branches, also of integers") {
  const auto f = [](auto a, auto b) {
    return std::tuple{tan(a * 1e5), asin(a) + acos(b), asinh(a) + acosh(b), atanh(a) + log10(b), exp2(a) + erfc(b), fmod(a, b), remainder(a * 1e18, b), floor_divide(a, b), fmax(a, b) + xlogy(a, b), lgamma(a) + digamma(b), tn::polygamma<1>(a) + tn::polygamma<2>(b)};
  };
  check(f, some<double, 70>(), some<double, 70>());
  check(f, some<float, 70>(), some<float, 70>());
  const auto quotients = [](auto a, auto b) {
    const auto x = tn::cast<std::int64_t>(a * 9.0), y = tn::cast<std::int64_t>(b * 3.0);
    return std::tuple{x % y, fmod(x, y), floor_divide(x, y), fmin(x, y), trunc(a) + ceil(b)};
  };
  check(quotients, some<double, 70>(), some<double, 70>());
}

TEST_CASE("elements of bfloat16: loads, roundings and stores, in packets and in ends, sums and products") {
  using tn::bfloat16;
  const auto f = [](auto a, auto b) { return std::tuple{a * b + 1.0, tn::cast<float>(a) * 0.1, a < b, tn::cast<std::int32_t>(a * 9.0), transpose(a) / 3.0}; };
  check(f, some<bfloat16, 1, 5>(), some<bfloat16, 1, 5>());
  check(f, some<bfloat16, 17, 59>(), some<bfloat16, 17, 59>());
  const auto over_rows = [](auto a, auto b) { return std::tuple{sum(a), sum(a, tn::axis<0>), softmax(a, tn::axis<1>), amax(a, tn::axis<1>), matmul(a, transpose(b)), sort(a)}; };
  check(over_rows, some<bfloat16, 9, 70>(), some<bfloat16, 9, 70>());
  check([](auto a, auto b) { return matmul(tn::cast<float>(a), permute<0, 2, 1>(b)); }, some<bfloat16, 2, 40, 70>(), some<float, 2, 33, 70>());
}

TEST_CASE("convolutions of few channels and of each channel by itself, with their gradients") {
  const auto planes = [](auto x, auto w) {
    const auto [y, dx, dw] = tn::value_and_grad<0, 1>([](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}}>(x, w))); })(x, w);
    return std::tuple{tn::conv2d<tn::conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}}>(x, w), y, dx, dw};
  };
  check(planes, some<double, 2, 3, 6, 20>(), some<double, 5, 3, 3, 2>());
  check(planes, some<double, 2, 2, 6, 20>(), some<double, 5, 2, 3, 2>());
  const auto channels = [](auto x, auto w) {
    const auto [y, dx, dw] = tn::value_and_grad<0, 1>([](auto x, auto w) { return tn::sum(tn::sin(tn::conv2d<tn::conv{.stride = {2, 1}, .padding = {1, 2}, .groups = 3}>(x, w))); })(x, w);
    return std::tuple{tn::conv2d<tn::conv{.stride = {2, 1}, .padding = {1, 2}, .groups = 3, .layout = tn::nhwc}>(tn::permute<0, 2, 3, 1>(x), tn::permute<2, 3, 1, 0>(w)), y, dx, dw};
  };
  check(channels, some<double, 2, 3, 6, 9>(), some<double, 6, 1, 3, 2>());
}

TEST_CASE("order: equal elements, NaN, rows in any layout, the first few and all") {
  const auto f = [](auto a) {
    const auto steps = round(a * 2.0);  // many equal elements
    const auto holes = where(steps == 2.0, std::numeric_limits<double>::quiet_NaN(), a);
    return std::tuple{argsort(steps), argsort(steps, tn::descending), sort(holes, tn::axis<0>), tn::argtopk<3>(steps), tn::topk<5>(a, tn::axis<0>, tn::smallest),
                      argsort(tn::cast<std::int32_t>(steps)), sort(transpose(a))};
  };
  check(f, some<float, 9, 33>());
  check(f, some<double, 700, 3>());
  check([](auto a) { return std::tuple{argsort(a), sort(a, tn::descending), tn::topk<2>(a)}; }, some<double, 19>());
  check([](auto a) { return argsort(a); }, some<float, 3, 0>());
  check([](auto a) { return tn::grad([](auto b) { return sum(sort(b) * cos(b) + median(b, tn::axis<1>, tn::keepdim)); })(a); }, some<double, 4, 31>());
}

// What is much to compute takes packets of 8 bytes, and still more takes single elements.
template <int N>
constexpr auto trip_count = [](auto a, auto b) {
  auto h = a * 0.5;
  for (int i = 0; i < N; ++i) h = tanh(h * b) + a * 0.25;
  return std::tuple{h, sum(h), h + b};
};

TEST_CASE("long kernels, whose packets are shorter") {
  const auto lanes = [](auto f) { return kernel_of(f, some<float, 1003>(), some<float, 1003>()).lanes; };
  CHECK(lanes(trip_count<3>) == 4);
  CHECK(lanes(trip_count<14>) == 2);
  CHECK(lanes(trip_count<30>) == 1);
  check(trip_count<14>, some<float, 1003>(), some<float, 1003>());
  check(trip_count<14>, some<double, 77>(), some<double, 77>());
  check(trip_count<14>, some<float, 33, 7>(), some<float, 33, 7>());
  check(trip_count<14>, some<float, 12, 40>(), some<float, 40>());
  check([](auto a, auto b) { return trip_count<14>(a.transpose(), b); }, some<float, 9, 35>(), some<float, 35, 9>());
  check(trip_count<30>, some<float, 1003>(), some<float, 1003>());
}

TEST_CASE("broadcast along rows and columns") {
  const auto f = [](auto a, auto row, auto column) { return tanh(a * row) + column; };
  check(f, some<float, 12, 20>(), some<float, 20>(), some<float, 12, 1>());
  check(f, some<double, 100, 3>(), some<double, 3>(), some<double, 100, 1>());
}

TEST_CASE("strided operands") {
  const auto f = [](auto a, auto b) { return transpose(a) * 2.0 + b; };
  check(f, some<float, 12, 20>(), some<float, 20, 12>());
  check([](auto a) { return tn::flip<1>(a) + a; }, some<float, 9, 13>());
}

TEST_CASE("sums, maxima and minima of all, several in one kernel") {
  const auto f = [](auto a, auto b) { return std::tuple{sum(a * b), amax(a), a + b, mean(exp(b))}; };
  check(f, some<float, 5>(), some<float, 5>());
  check(f, some<float, 4099>(), some<float, 4099>());
  check(f, some<double, 37, 41>(), some<double, 37, 41>());
  check(f, some<std::int32_t, 300>(-50, 50), some<std::int32_t, 300>(-50, 50));
}

TEST_CASE("sums of columns, beside sums of all and of rows") {
  const auto f = [](auto a) { return std::tuple{sum(a, tn::axis<0>), amax(a, tn::axis<0>)}; };
  check(f, some<float, 1, 7>());
  check(f, some<float, 300, 10>());
  check(f, some<float, 65, 130>());
  check(f, some<double, 3, 2000>());
  check([](auto a) { return std::tuple{sum(a, tn::axis<0>), sum(a, tn::axis<1>), sum(a), a * 2.0}; }, some<float, 90, 35>());
}

TEST_CASE("few long rows are several blocks'") {
  const auto f = [](auto a) { return std::tuple{sum(a, tn::axis<1>) * 2.0, amax(a, tn::axis<1>), exp(a)}; };
  check(f, some<float, 3, 20001>());
  check(f, some<double, 1, 9000>());
  check([](auto a) { return std::tuple{mean(a), sum(exp(a)) + 1.0}; }, some<float, 30000>());
  check(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(sigmoid(a * b)); }), some<float, 30000>(), some<float, 30000>());
  check([](auto a) { return std::tuple{sum(a, tn::axis<1>), sum(a * a)}; }, some<float, 3, 20001>());

  CHECK(kernel_of([](auto a) { return sum(a * a); }, some<float, 1 << 20>()).shape_of(nullptr, {}).blocks() == 256);
}

TEST_CASE("a row's number is written over one that all threads of the row read") {
  const auto f = [](auto x, auto r) {
    const auto s = sum(x, tn::axis<1>, tn::keepdim) + r;
    return std::tuple{s, x * s};
  };
  const auto run = []<class F, class X, class R>(F f, const X& x, const R& r) {
    using program = typename decltype(tn::compile(f).plan(x, r))::program_type;
    static_assert(program::kernel_count == 1);
    const tn::ir::graph_view g = program::value.view();
    const std::vector<array> arguments{array(x.extents(), x.data()), array(r.extents(), r.data())}, wanted = tn::reference::run(g, arguments);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      std::vector<array> results{arguments[1], arguments[0]};  // the first of them in the place of r
      const void* const from[] = {x.data(), results[0].data.data()};
      void* const to[] = {results[0].data.data(), results[1].data.data()};
      host::device device;
      device.seed = seed;
      tn::cuda_backend::run<program>(device, from, to, nullptr);
      CHECK(fuzz::judge(g, arguments, wanted, results).wrong == "");
    }
  };
  run(f, some<float, 20, 100>(), some<float, 20, 1>());  // of a warp
  run(f, some<float, 20, 700>(), some<float, 20, 1>());  // of a block
}

TEST_CASE("softmax: rows of a lane, of a warp, of a block") {
  const auto f = [](auto x) { return softmax(x, tn::axis<1>); };
  check(f, some<float, 70, 3>());
  check(f, some<float, 33, 100>());
  check(f, some<float, 5, 1500>());
  check(f, some<double, 12, 301>());
  check([](auto x) { return std::tuple{softmax(x, tn::axis<0>), logsumexp(x, tn::axis<1>)}; }, some<float, 40, 50>());
}

TEST_CASE("a block asks for no more shared memory than every GPU gives, with what the kernel declares itself") {
  const auto x = some<float, 2, 12288>();
  using kernel = decltype(kernel_of([](auto x) { return softmax(x, tn::axis<1>); }, x));
  static_assert(kernel::kept_rows == 1);
  const auto g = kernel::shape_of(nullptr, {});
  CHECK(g.scratch * 4 == 48 << 10);
  CHECK(!g.shares);
  const auto asked = kernel::shape_of(nullptr, {.shared_bytes = 96 << 10});  // of the same blocks, so that sums are the same
  CHECK(asked.shares);
  CHECK(asked.row_blocks == g.row_blocks);
  CHECK(asked.team == g.team);
  CHECK(asked.threads == g.threads);
  check([](auto x) { return softmax(x, tn::axis<1>); }, x);
}

TEST_CASE("rows are a warp's while lanes come back to little") {
  const auto geometry = [](auto f, const auto&... x) { return kernel_of(f, x...).shape_of(nullptr, {}); };
  const auto rows = [](auto x) { return softmax(x, tn::axis<1>); };
  CHECK(geometry(rows, some<float, 64, 512>()).team == 32);
  CHECK(geometry(rows, some<float, 64, 600>()).team == 256);
  CHECK(geometry([](auto x) { return sum(exp(x), tn::axis<1>); }, some<float, 600, 1024>()).team == 32);
  const auto norm = [](auto x, auto scale, auto shift, auto w) {
    return tn::vjp([](auto x, auto scale, auto shift) { return tn::layer_norm(x, scale, shift); })(x, scale, shift, w);
  };
  const auto g = geometry(norm, some<float, 4096, 1024>(), some<float, 1024>(), some<float, 1024>(), some<float, 4096, 1024>());
  CHECK(g.shares);  // two sums of columns, a packet a thread
  CHECK(g.team == 256);
  CHECK(g.row_blocks == 512);
  CHECK(g.scratch * 4 == 8 << 10);
}

TEST_CASE("few rows whose columns are summed are still many blocks', and wide ones keep little") {
  using x = tn::tensor<float, tn::shape<tn::dim("rows"), tn::dim("columns")>>;
  using kernel = decltype(kernel_of([](auto x) { return sum(exp(x), tn::axis<0>); }, x(1, 1)));
  const auto geometry = [](std::int64_t rows, std::int64_t columns) {
    const std::int64_t extents[] = {rows, columns};
    return kernel::shape_of(extents, {});
  };
  static_assert(kernel::number_count >= 2);
  const auto g = geometry(128, 1024);
  REQUIRE(g.rows == 128);
  REQUIRE(g.columns == 1024);
  CHECK(g.team == 32);
  CHECK(g.tiles == 8);
  CHECK(g.row_blocks == 8);
  CHECK(geometry(65536, 1024).blocks() == 4096);
  CHECK(geometry(2, 1 << 20).team == 256);  // no warp is without a row
  CHECK(geometry(8, 1 << 24).shares);
}

TEST_CASE("the plan says what a kernel takes beside") {
  const auto bytes = []<class F, class... X>(F f, const X&... x) {
    return tn::cuda_backend::workspace_bytes<typename decltype(tn::compile(f).plan(x...))::program_type, host::device>();
  };
  CHECK(bytes([](auto x) { return x * 2.0; }, some<float, 1000>()) == 0);
  CHECK(bytes([](auto x) { return sum(x); }, some<float, 1000>()) == 0);  // a block
  CHECK(bytes([](auto x) { return sum(x); }, some<float, 1 << 15>()) == 16 + 8 * 4);  // counters; sums of 8 blocks of 256 threads, with 4 packets of 4 each
  CHECK(bytes([](auto x) { return softmax(x, tn::axis<1>); }, some<float, 3, 12288>()) == (48 << 10) + 3 * (48 << 10));
  // The rows and positions of index_add, twice, and the sums of 26 pieces.
  const auto i = some<std::int32_t, 5000>(0, 2);
  CHECK(bytes([](auto x, auto i, auto u) { return tn::index_add<0>(x, i, u); }, some<double, 3, 2>(), i, some<double, 5000, 2>()) >= 4 * 8 * 5000 + 26 * 6 * 8);
}

// Waiting results, temporaries, partial sums, the rows that index_add sorts and the answers of checks.
// Law: all memory of a call is taken before a result is written.
TEST_CASE("a call takes its memory at once, before it launches anything") {
  const auto f = [](auto x, auto i, auto u) {
    const auto table = tn::index_add<0>(x * 0.5, i + 1, u);
    return std::tuple{x * 2.0, share(matmul(table, transpose(table))), sum(exp(gather(x, i + 1)), tn::axis<0>), sum(x)};
  };
  const auto x = some<float, 9, 40>();
  const auto u = some<float, 50, 40>();
  auto i = some<std::int64_t, 50>(0, 7);
  using program = typename decltype(tn::compile(f).plan(x, i, u))::program_type;
  static_assert(tn::program_detail::last_check<program> >= 0);
  float first[9 * 40] = {7}, second[9 * 9] = {7}, third[40] = {7}, fourth[1] = {7};
  const void* const arguments[] = {x.data(), i.data(), u.data()};
  void* const results[] = {first, second, third, fourth};
  const auto nothing_is_written = [&] { return first[0] == 7 && second[0] == 7 && third[0] == 7 && fourth[0] == 7; };

  host::device device;
  int notices = 0;
  const auto commit = [&] {
    ++notices;
    CHECK(nothing_is_written());
    CHECK(device.allocations == 1);
    CHECK(device.is_ready_for_blas);
  };
  device.is_full = true;
  CHECK_THROWS_AS(tn::cuda_backend::run<program>(device, arguments, results, nullptr, commit), std::bad_alloc);
  CHECK(device.launches == 0);
  CHECK(notices == 0);
  CHECK(nothing_is_written());
  device.is_full = false;
  device.given = {};
  tn::cuda_backend::run<program>(device, arguments, results, nullptr, commit);
  CHECK(notices == 1);
  CHECK(device.allocations == 1);
  CHECK(device.allocated == tn::cuda_backend::workspace_bytes<program, host::device>());
  CHECK(first[0] == 2 * x(0, 0));
  check(f, x, i, u);
}

TEST_CASE("values kept from pass to pass, several in a kernel, beside sums of columns") {
  const auto f = [](auto x) { return std::tuple{share(exp(x)), share(sigmoid(x)), sum(share(cosh(x)), tn::axis<0>)}; };
  check(f, some<float, 21, 40>());
  check(f, some<double, 70, 9>());
}

TEST_CASE("layer norm, and its gradient: rows, columns and totals at once") {
  constexpr auto loss = [](auto x, auto scale, auto shift) { return sum(square(tn::layer_norm(x, scale, shift))); };
  check([](auto x, auto scale, auto shift) { return tn::layer_norm(x, scale, shift); }, some<float, 31, 60>(), some<float, 60>(), some<float, 60>());
  check(tn::value_and_grad<0, 1, 2>(loss), some<float, 31, 60>(), some<float, 60>(), some<float, 60>());
  check(tn::value_and_grad<0, 1, 2>(loss), some<double, 130, 9>(), some<double, 9>(), some<double, 9>());
}

TEST_CASE("extents that only the run knows") {
  constexpr auto rows = tn::dim("rows"), columns = tn::dim("columns");
  const auto f = [](auto x, auto y) { return std::tuple{softmax(x * y), sum(x, tn::axis<0>), sum(x * y)}; };
  for (const auto& [n, m] : {std::pair{40, 30}, {1, 1}, {0, 5}, {3, 0}, {7, 300}}) {
    tn::tensor<float, tn::shape<rows, columns>> x(n, m), y(n, m);
    for (float& v : tn::as_span(x)) v = static_cast<float>(&v - x.data()) / 64;
    for (float& v : tn::as_span(y)) v = 0.5f;
    check(f, x, y);
  }
}

TEST_CASE("systems of linear equations and factors") {
  check([](auto a, auto b) { return tn::solve(tn::transpose<1, 2>(a), b); }, some<double, 70, 3, 3>(), some<double, 70, 3, 2>());
  check([](auto a, auto b) {
    const auto spd = tn::matmul(a, tn::transpose<1, 2>(a)) + tn::eye<double>(tn::shape<3, 3>{});
    const auto l = tn::cholesky(spd);
    return std::tuple{l, tn::solve_triangular(l, b, tn::lower), tn::solve_triangular(tn::transpose<1, 2>(l), b, tn::upper.transposed().unit())};
  }, some<double, 70, 3, 3>(), some<double, 70, 3, 2>());
  const auto inverses = [](auto a) { return std::tuple{tn::inverse(a), tn::det(a), tn::slogdet(a)}; };
  check(inverses, some<double, 70, 3, 3>());
  check(inverses, some<double, 70, 5, 5>());
  check(tn::grad<0>([](auto a) { return sum(sin(tn::det(a))); }), some<double, 70, 3, 3>());
  const auto spectra = [](auto a) { return std::tuple{tn::eigvalsh(a), tn::eigh(a), tn::svd(a), tn::matrix_exp(a * 0.1)}; };
  check(spectra, some<double, 70, 3, 3>());
  check([](auto a) { return std::tuple{tn::pinv(a), tn::svdvals(a)}; }, some<double, 70, 4, 2>());
  const auto factors = [](auto a) { return std::tuple{tn::qr(a), std::get<1>(tn::qr(tn::transpose<1, 2>(a)))}; };
  check(factors, some<double, 70, 4, 3>());
  check(factors, some<float, 0, 4, 3>());
  check([](auto a) { return std::tuple{tn::lu(a), tn::lu(tn::transpose<1, 2>(a))}; }, some<double, 70, 4, 3>());
  check(tn::grad<0>([](auto a) { return sum(sin(std::get<1>(tn::lu(a)))); }), some<double, 70, 3, 3>());
  check(tn::grad<0>([](auto a) { return sum(sin(std::get<0>(tn::qr(a)))); }), some<double, 70, 3, 3>());
}

TEST_CASE("attention and its gradient") {
  const auto q = some<float, 2, 9, 4>(), k = some<float, 2, 9, 4>();
  const auto v = some<float, 2, 9, 3>();
  check([](auto q, auto k, auto v) { return tn::attention(q, k, v, tn::causal) * 2.0; }, q, k, v);
  check(tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(tn::attention(q, k, v, tn::causal))); }), q, k, v);
  const auto few = some<double, 5, 4>();
  const auto keys = some<double, 1, 4, 7>();
  const auto values = some<double, 2, 7, 2>();
  check(tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(tn::attention(q, tn::transpose<1, 2>(k), v))); }), few, keys, values);
}

TEST_CASE("attention: more or less rows than columns, none, and a score of -inf") {
  const auto causal = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(tn::attention(q, k, v, tn::causal))); });
  const auto nine = some<float, 2, 9, 4>();
  const auto five = some<float, 2, 5, 4>();
  check(causal, nine, five, five);
  check(causal, five, nine, nine);
  const auto none = some<float, 2, 0, 4>();
  check(causal, nine, none, none);
  check(causal, none, nine, nine);
  const auto all = [](auto q, auto k, auto v) { return std::tuple{tn::attention(q, k, v), tn::attention(q, k, v, tn::causal)}; };
  const tn::tensor<double, tn::shape<2, 1>> q{{1.0}, {0.5}}, v{{3.0}, {4.0}};
  check(all, q, tn::tensor<double, tn::shape<2, 1>>{{2.0}, {-std::numeric_limits<double>::infinity()}}, v);
  check(all, q, tn::tensor<double, tn::shape<2, 1>>{{-std::numeric_limits<double>::infinity()}, {2.0}}, v);
}

TEST_CASE("rows named by indices, and sums of rows at indices that repeat") {
  const auto i = some<std::int64_t, 50>(0, 9);
  const auto j = some<std::int64_t, 4, 3>(0, 9);
  check([](auto x, auto i) { return tn::gather<0>(x, i) * 2.0; }, some<float, 9, 6>(), i);
  check([](auto x, auto i) { return tn::gather<1>(x, i); }, some<double, 4, 9, 2>(), j);
  check([](auto x, auto i, auto u) { return tn::index_add<0>(x, i, u); }, some<float, 9, 6>(), i, some<float, 50, 6>());
  check([](auto x, auto i, auto u) { return tn::index_add<1>(x, i, u); }, some<float, 4, 9, 2>(), j, some<float, 4, 4, 3, 2>());
  check([](auto x, auto i, auto u) { return tn::index_add<0>(x, i, u); }, some<double, 40>(), some<std::int32_t, 700>(0, 40), some<double, 700>());
  // Many indices of few rows, which are summed in pieces; of one, and of one that has none.
  static_assert(tn::cuda_backend::pieces_of_rows(6, 3, 5000) == 26 && tn::cuda_backend::pieces_of_rows(6, 3, 100) == 1 && tn::cuda_backend::pieces_of_rows(1 << 20, 3, 1 << 30) == 1);
  const auto few = some<std::int32_t, 5000>(0, 2);
  check([](auto x, auto i, auto u) { return tn::index_add<0>(x, i, u); }, some<double, 3, 2>(), few, some<double, 5000, 2>());
  check([](auto x, auto i, auto u) { return tn::index_add<1>(x, i, u); }, some<double, 2, 3>(), few, some<double, 2, 5000>());
  check([](auto x, auto i, auto u) { return tn::index_add<0>(x, i, u); }, some<std::int32_t, 1>(), some<std::int64_t, 700>(0, 0), some<std::int32_t, 700>(-9, 9));
  constexpr auto loss = [](auto x, auto i) { return sum(square(tn::gather<0>(x, i))); };
  check(tn::value_and_grad(loss), some<float, 9, 6>(), some<std::int32_t, 50>(0, 9));
}

TEST_CASE("pad, concat") {
  check([](auto a, auto b) { return tn::concat<1>(a, b) * 2.0; }, some<float, 3, 4>(), some<float, 3, 5>());
  constexpr auto loss = [](auto a) { return sum(exp(tn::slice<0, 1, 3>(tn::flip<0>(a)))); };
  check(tn::value_and_grad(loss), some<double, 5, 3>());
}

TEST_CASE("matrix products: batches, transposes, and a training step") {
  const auto f = [](auto a, auto b) { return std::tuple{matmul(a, b), matmul(transpose(b), transpose(a))}; };
  check(f, some<float, 5, 7>(), some<float, 7, 3>());
  check([](auto a, auto b) { return matmul(a, b); }, some<double, 4, 5, 7>(), some<double, 4, 7, 3>());
  check([](auto a, auto b) { return matmul(tn::transpose(a), b); }, some<double, 2, 3, 7, 5>(), some<double, 2, 3, 7, 4>());
  check([](auto a, auto b) { return matmul(tn::flip<1>(a), b); }, some<float, 5, 7>(), some<float, 7, 1>());
  check([](auto a, auto b) { return matmul(a, b); }, some<std::int32_t, 5, 7>(-9, 9), some<std::int32_t, 7, 3>(-9, 9));
  check([](auto a, auto b) { return matmul(a, b); }, some<float, 5, 0>(), some<float, 0, 3>());
  constexpr auto loss = [](auto w1, auto b1, auto w2, auto b2, auto x, auto labels) {
    return cross_entropy(matmul(relu(matmul(x, w1) + b1), w2) + b2, labels);
  };
  check(tn::value_and_grad<0, 1, 2, 3>(loss), some<float, 20, 16>(), some<float, 16>(), some<float, 16, 10>(), some<float, 10>(), some<float, 24, 20>(),
        some<std::int64_t, 24>(0, 10));
}

TEST_CASE("an index outside its axis is refused before anything is written") {
  const auto f = [](auto x, auto i) { return std::tuple{x * 2.0, gather(x, i + 1)}; };
  const auto x = some<float, 3, 2>();
  tn::tensor<std::int64_t, tn::shape<2>> i{1, 2};
  using program = typename decltype(tn::compile(f).plan(x, i))::program_type;
  float first[6] = {7}, second[4] = {7};
  const void* const arguments[] = {x.data(), i.data()};
  void* const results[] = {first, second};
  host::device device;
  CHECK_THROWS_WITH(tn::cuda_backend::run<program>(device, arguments, results, nullptr), "tenure: gather: index 3 is outside an axis of 3");
  CHECK(first[0] == 7);
  tn::as_span(i)[1] = 0;
  tn::cuda_backend::run<program>(device, arguments, results, nullptr);
  CHECK(first[0] == 2 * x(0, 0));
  CHECK(second[0] == x(2, 0));

  const auto g = [](auto x, auto i) { return gather(x, i); };
  tn::as_span(i)[0] = -1;
  using other = typename decltype(tn::compile(g).plan(x, i))::program_type;
  const auto index_fault = [&] { tn::cuda_backend::check_arguments(device, tn::program_detail::index_arguments<other>, arguments, nullptr); };
  CHECK_THROWS_WITH(index_fault(), "tenure: gather: index -1 is outside an axis of 3");
  tn::as_span(i)[0] = std::numeric_limits<std::int64_t>::min();  // what NaN becomes
  CHECK_THROWS_WITH(index_fault(), "tenure: gather: index -9223372036854775808 is outside an axis of 3");

  // The starts of two blocks: an argument, and one that is computed.
  const auto blocks = [](auto x, auto k) { return tn::dynamic_slice(tn::dynamic_slice(x, k, tn::shape<5>{}), k + 2, tn::shape<3>{}); };
  const auto row = some<float, 6>();
  const auto refused_at = [&](std::int64_t at) {
    const tn::tensor<std::int64_t, tn::shape<>> k(at);
    using block = typename decltype(tn::compile(blocks).plan(row, k))::program_type;
    const void* const given[] = {row.data(), k.data()};
    void* const result[] = {first};
    tn::cuda_backend::check_arguments(device, tn::program_detail::index_arguments<block>, given, nullptr);
    tn::cuda_backend::run<block>(device, given, result, nullptr);
  };
  CHECK_THROWS_WITH(refused_at(2), "tenure: dynamic_slice: a block of 5 at index 2 is outside an axis of 6");
  CHECK_THROWS_WITH(refused_at(1), "tenure: dynamic_slice: a block of 3 at index 3 is outside an axis of 5");
}

TEST_CASE("the host's blocks: several are on the way at once, and none writes behind its shared memory or waits for what has passed") {
  host::fibers all(64, 3, 5);
  const std::vector<int> order{0, 1, 2, 3, 4, 5};
  std::vector<int> seen, block(3);
  const auto begins = [&](int place, int b) { block[static_cast<std::size_t>(place)] = b; };
  const auto ends = [](int) {};
  all.run(order, begins, ends, [&](int place, int) {
    seen.push_back(block[static_cast<std::size_t>(place)]);
    all.wait(true);
    seen.push_back(block[static_cast<std::size_t>(place)]);
  });
  CHECK(seen.size() == 6 * 2 * 64);
  int changes = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) changes += seen[i] != seen[i - 1];
  CHECK(changes > 20);  // 5 where one block runs after the other

  host::fibers few(32, 2, 5);
  CHECK_THROWS_WITH(few.run(order, begins, ends, [&](int, int thread) { if (thread > 0) few.wait(true); }), "threads wait at a barrier that others passed by");
  host::fiber_block::common common(few, 24);
  static_cast<char*>(host::fiber_block(common, 0, 0).shared())[23] = 1;
  CHECK_NOTHROW(common.check());
  static_cast<char*>(host::fiber_block(common, 0, 0).shared())[24] = 1;
  CHECK_THROWS_WITH(common.check(), "a block wrote byte 24 of 24 bytes of shared memory");
}
