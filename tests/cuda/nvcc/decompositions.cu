// SPDX-License-Identifier: BSL-1.0
// Large matrices by cuSOLVER beside the CPU's. cuda.nvcc compiles it at every change; on a GPU cuda.decompositions runs it. Skips (77) where there is none.
#define TENURE_CUSOLVER 1
#include <tenure/cpu.hpp>
#include <tenure/cuda.hpp>

#include <cmath>
#include <cstdio>

namespace tn = tenure;

namespace {

using matrix = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
int failures = 0;

void check(const char* what, double apart, double most) {
  if (apart <= most) return;
  std::printf("%s: %.3g, at most %.3g\n", what, apart, most);
  ++failures;
}
template <class X, class Y>
double apart(const X& there, const Y& here) { return max(abs(there.to(tn::cpu) - here)).item(); }

matrix random(std::int64_t n, std::int64_t m, std::uint64_t seed) {
  matrix x(n, m);
  std::uint64_t state = seed;
  for (double& v : tn::as_span(x)) state = state * 6364136223846793005u + 1442695040888963407u, v = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
  return x;
}

constexpr auto root = tn::compile([](auto a) { return tn::cholesky(a); });
constexpr auto solved = tn::compile([](auto a, auto b) { return std::tuple{tn::solve(a, b), tn::inverse(a), tn::solve_triangular(a, b, tn::lower)}; });
constexpr auto triangles = tn::compile([](auto a) { return tn::lu(a); });
constexpr auto spectrum = tn::compile([](auto a) { return tn::eigh(a); });
constexpr auto factors = tn::compile([](auto a) { return std::tuple_cat(tn::qr(a), tn::svd(a)); });

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU: compiled, not run");
    return 77;
  }
  for (const std::int64_t n : {64, 200}) {
    matrix a = random(n, n, 1), b = random(n, 5, 2), definite = random(n, n, 3), wide = random(n, n + 9, 4), tall = random(n + 9, n, 5);
    for (std::int64_t i = 0; i < n; ++i) {
      tn::as_span(a)[static_cast<std::size_t>(i * n + i)] += 2;
      tn::as_span(definite)[static_cast<std::size_t>(i * n + i)] += static_cast<double>(n);
    }
    check("cholesky", apart(root(definite.to(tn::cuda)), root(definite)), 1e-10);
    const auto [x, inverse, lower] = solved(a.to(tn::cuda), b.to(tn::cuda));
    const auto [x_here, inverse_here, lower_here] = solved(a, b);
    check("solve", apart(x, x_here), 1e-8), check("inverse", apart(inverse, inverse_here), 1e-8), check("solve_triangular", apart(lower, lower_here), 1e-8);
    const auto [p, l, u] = triangles(a.to(tn::cuda));
    const auto [p_here, l_here, u_here] = triangles(a);
    check("lu: p", apart(p, p_here), 0), check("lu: l", apart(l, l_here), 1e-8), check("lu: u", apart(u, u_here), 1e-8);
    const auto [w, v] = spectrum(definite.to(tn::cuda));
    const auto [w_here, v_here] = spectrum(definite);
    check("eigh: values", apart(w, w_here), 1e-9), check("eigh: vectors", apart(v, v_here), 1e-6);
    for (const matrix* const m : {&wide, &tall}) {
      const auto [q, r, left, s, right] = factors(m->to(tn::cuda));
      const auto [q_here, r_here, left_here, s_here, right_here] = factors(*m);
      check("qr: q", apart(q, q_here), 1e-8), check("qr: r", apart(r, r_here), 1e-8);
      check("svd: u", apart(left, left_here), 1e-6), check("svd: s", apart(s, s_here), 1e-9), check("svd: vt", apart(right, right_here), 1e-6);
    }
  }
  std::printf("%d failures\n", failures);
  return failures != 0;
}
