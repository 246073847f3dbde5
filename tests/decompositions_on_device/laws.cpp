// SPDX-License-Identifier: BSL-1.0
// Large matrices with TENURE_CUSOLVER, on a device that is the host: the conventions of small ones hold, whatever signs and triangles LAPACK leaves.
#define TENURE_CUSOLVER 1
#include "../catch.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/tenure.hpp>

#include "../fuzz/judge.hpp"
#include "../kernels/host_device.hpp"

namespace tn = tenure;
using fuzz::array;

namespace {

using matrices = tn::tensor<double, tn::shape<tn::dyn, tn::dyn, tn::dyn>>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

matrices random(std::int64_t samples, std::int64_t n, std::int64_t m, unsigned seed) {
  matrices x(samples, n, m);
  fuzz::dice d(seed);
  for (double& v : tn::as_span(x)) v = d.between(-1, 1);
  return x;
}
/// Symmetric, with `more` on the diagonal. The upper triangle is NaN: nothing reads it.
matrices lower(std::int64_t samples, std::int64_t n, double more, unsigned seed) {
  matrices x = random(samples, n, n, seed);
  for (std::int64_t e = 0; e < x.size(); ++e) {
    double& v = tn::as_span(x)[static_cast<std::size_t>(e)];
    const std::int64_t i = e / n % n, j = e % n;
    if (i == j) v += more;
    if (j > i) v = not_a_number;
  }
  return x;
}

struct outcome {
  std::vector<array> results;
  int calls = 0;
};

/// What the program of f makes of x on the device.
template <class F, class... X>
outcome on_device(F f, const X&... x) {
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  const tn::ir::graph_view g = program::value.view();
  const std::vector<array> arguments{array(x.extents(), x.data())...};
  std::vector<tn::reference::argument> bound;
  for (const array& a : arguments) bound.push_back(tn::reference::argument_of(a));
  const std::vector<std::int64_t> symbols = tn::reference::bind_symbols(g, bound);
  outcome made;
  for (int i = 0; i < g.output_count; ++i) made.results.emplace_back(g[g.outputs[i]].type, tn::reference::known(g.shape_of(g.outputs[i]), symbols));
  made.results = host::garbage_like(made.results);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const array& a : arguments) from.push_back(a.data.data());
  for (array& r : made.results) to.push_back(r.data.data());
  host::device d;
  tn::cuda_backend::run<program>(d, from.data(), to.data(), symbols.data());
  made.calls = d.calls;
  return made;
}
/// The difference from the reference as a part of the largest element, with NaN where the reference has it.
template <class F, class... X>
double difference(const outcome& made, F f, const X&... x) {
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  const std::vector<array> wanted = tn::reference::run(program::value.view(), std::vector<array>{array(x.extents(), x.data())...});
  double worst = 0;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    double largest = 0, apart = 0;
    for (std::int64_t i = 0; i < wanted[r].size(); ++i) {
      const double a = wanted[r].template as<double>()[i], b = made.results[r].template as<double>()[i];
      if (std::isnan(a) != std::isnan(b)) return not_a_number;
      if (std::isnan(a)) continue;
      largest = std::max(largest, std::abs(a)), apart = std::max(apart, a == b ? 0 : std::abs(a - b));
    }
    if (largest > 0) worst = std::max(worst, apart / largest);
  }
  return worst;
}
template <class F, class... X>
void check_large(F f, double tolerance, const X&... x) {
  const outcome made = on_device(f, x...);
  CHECK(made.calls > 0);
  CHECK(difference(made, f, x...) < tolerance);
}
double& element(matrices& x, std::int64_t s, std::int64_t i, std::int64_t j) {
  const auto e = x.extents();
  return tn::as_span(x)[static_cast<std::size_t>((s * e[1] + i) * e[2] + j)];
}

constexpr auto root = [](auto a) { return tn::cholesky(a); };
constexpr auto solved = [](auto a, auto b) { return tn::solve(a, b); };
constexpr auto systems = [](auto a, auto b) { return std::tuple{tn::solve(a, b), tn::solve(tn::transpose<1, 2>(a), b)}; };  // by shared factors
constexpr auto inverted = [](auto a) { return tn::inverse(a); };
constexpr auto triangles = [](auto a) {
  const auto [p, l, u] = tn::lu(a);
  return std::tuple{p, l, u};
};
constexpr auto spectrum = [](auto a) {
  const auto [w, v] = tn::eigh(a);
  return std::tuple{w, v};
};
constexpr auto values = [](auto a) { return std::tuple{tn::eigvalsh(a), std::get<0>(tn::eigh(a * 2.0))}; };
constexpr auto orthonormal = [](auto a) {
  const auto [q, r] = tn::qr(a);
  return std::tuple{q, r};
};
constexpr auto only_r = [](auto a) { return std::get<1>(tn::qr(a)); };
constexpr auto singular = [](auto a) {
  const auto [u, s, vt] = tn::svd(a);
  return std::tuple{u, s, vt};
};
constexpr auto singular_values = [](auto a) { return tn::svdvals(a); };

}  // namespace

// Law: large matrices have the conventions of small ones.
TEST_CASE("a device's decompositions of large matrices are those of the reference") {
  constexpr std::int64_t n = 64;
  check_large(root, 1e-12, lower(2, n, n, 1));
  check_large(solved, 1e-9, random(2, n, n, 2), random(2, n, 3, 3));
  check_large(solved, 1e-9, random(2, n, n, 2), random(2, n, 1, 3));
  check_large(systems, 1e-9, random(2, n, n, 2), random(2, n, 3, 3));
  check_large(systems, 1e-9, random(2, n, n, 2), random(2, n, 1, 3));
  check_large(inverted, 1e-9, random(2, n + 7, n + 7, 4));
  check_large(triangles, 1e-9, random(2, n, n, 5));
  check_large(spectrum, 1e-9, lower(2, n, 0, 6));
  check_large(values, 1e-12, lower(1, n + 1, 0, 7));
  for (const auto& [rows, columns] : {std::pair{n, n + 5}, {n + 9, n}}) {
    CAPTURE(rows, columns);
    check_large(orthonormal, 1e-9, random(2, rows, columns, 8));
    check_large(only_r, 1e-9, random(1, rows, columns, 9));
    check_large(singular, 1e-8, random(1, rows, columns, 10));
  }
  check_large(singular_values, 1e-12, random(1, n, n, 11));  // the reference takes most of the time
}

TEST_CASE("a device's triangular systems of large matrices are those of the reference") {
  const matrices a = [] {
    matrices x = random(2, 64, 64, 5);
    for (std::int64_t s = 0; s < 2; ++s)
      for (std::int64_t i = 0; i < 64; ++i) element(x, s, i, i) += 64;
    return x;
  }();
  const matrices b = random(2, 64, 3, 6);
  check_large([](auto l, auto y) { return tn::solve_triangular(l, y, tn::lower); }, 1e-12, a, b);
  check_large([](auto l, auto y) { return tn::solve_triangular(l, y, tn::upper); }, 1e-12, a, b);
  check_large([](auto l, auto y) { return tn::solve_triangular(l, y, tn::lower.transposed()); }, 1e-12, a, b);
  check_large([](auto l, auto y) { return tn::solve_triangular(l, y, tn::upper.transposed()); }, 1e-12, a, b);
  check_large([](auto l, auto y) { return tn::solve_triangular(l / 128.0, y, tn::lower.unit()); }, 1e-12, a, b);
  check_large([](auto l, auto y) { return tn::solve_triangular(l / 128.0, y, tn::upper.transposed().unit()); }, 1e-12, a, b);
}

TEST_CASE("small matrices, and what LAPACK does not have, take a thread each") {
  CHECK(on_device(root, lower(3, 63, 63, 1)).calls == 0);
  CHECK(on_device(singular, random(1, 63, 90, 1)).calls == 0);
  CHECK(on_device(inverted, random(0, 64, 64, 1)).calls == 0);
  CHECK(on_device(triangles, random(1, 64, 65, 1)).calls == 0);
  CHECK(on_device(root, lower(3, 64, 64, 1)).calls == 3);
  // The gradient of det takes the adjugate, which LAPACK does not have.
  CHECK(on_device(tn::grad([](auto a) { return sum(tn::det(a)); }), random(1, 64, 64, 3)).calls == 0);
}

TEST_CASE("a matrix that is not finite or not definite has NaN of its own") {
  matrices definite = lower(2, 64, 64, 3);
  element(definite, 1, 20, 20) = -1;
  check_large(root, 1e-12, definite);
  for (const double wrong : {not_a_number, std::numeric_limits<double>::infinity()}) {
    CAPTURE(wrong);
    matrices x = random(2, 64, 64, 4), s = lower(2, 64, 0, 4);
    element(x, 1, 7, 30) = element(s, 1, 30, 7) = wrong;
    const auto second_is_nan = [&](auto f, const matrices& of) {
      const outcome made = on_device(f, of);
      CHECK(made.calls > 0);
      for (const array& r : made.results)
        for (std::int64_t i = 0; i < r.size(); ++i) CHECK(std::isnan(r.as<double>()[i]) == (i >= r.size() / 2));
    };
    second_is_nan(inverted, x);
    second_is_nan([](auto a) { return systems(a, a); }, x);
    second_is_nan(spectrum, s);
    second_is_nan(values, s);
    second_is_nan(orthonormal, x);
    second_is_nan(singular, x);
  }
  matrices x = random(1, 64, 64, 8);  // singular
  for (std::int64_t j = 0; j < 64; ++j) element(x, 0, 3, j) = 0;
  const outcome made = on_device(inverted, x);
  bool all_finite = true;
  for (std::int64_t i = 0; i < made.results[0].size(); ++i) all_finite = all_finite && std::isfinite(made.results[0].as<double>()[i]);
  CHECK(!all_finite);
}

TEST_CASE("floats, and a derivative through a large decomposition") {
  using floats = tn::tensor<float, tn::shape<64, 64>>;
  floats a;
  fuzz::dice d(3);
  for (float& v : tn::as_span(a)) v = static_cast<float>(d.between(-1, 1));
  const auto likelihood = [](auto x) { return sum(log(tn::diagonal(tn::cholesky(tn::matmul(x, tn::transpose(x)) + 64.0f * tn::eye<float>(tn::shape<64, 64>{}))))); };
  using program = typename decltype(tn::compile(tn::grad(likelihood)).plan(a))::program_type;
  const std::vector<array> arguments{array(a.extents(), a.data())};
  const std::vector<array> wanted = tn::reference::run(program::value.view(), arguments);
  std::vector<array> made = host::run<program>(wanted, arguments, {});
  for (std::int64_t i = 0; i < wanted[0].size(); ++i) CHECK(std::abs(wanted[0].as<float>()[i] - made[0].as<float>()[i]) < 1e-5f);
}
