// SPDX-License-Identifier: BSL-1.0
// y = exp(-x x) a + tanh(b) c. forward is float64, forward_f32 float32; eigen takes .tanh(), which Eigen 3.4 has as packets for
// float only, eigen_exp writes tanh through exp, as its users do for double.
#include <harness.hpp>
#include <workloads.hpp>

#include "libmvec.hpp"

namespace {

template <class T>
struct workload {
  using eigen_array = Eigen::Array<T, Eigen::Dynamic, 1>;
  using in_map = Eigen::Map<const eigen_array, Eigen::Aligned64>;
  using out_map = Eigen::Map<eigen_array, Eigen::Aligned64>;

  bench::array<T> x, a, b, c, y;
  std::int64_t n;
  T *px, *pa, *pb, *pc, *py;

  explicit workload(std::int64_t size)
      : x(bench::uniform_array<T>(size, -2, 2, 1)), a(bench::uniform_array<T>(size, -1, 1, 2)), b(bench::uniform_array<T>(size, -3, 3, 3)),
        c(bench::uniform_array<T>(size, -1, 1, 4)), y(size), n(size), px(bench::data_of(x)), pa(bench::data_of(a)), pb(bench::data_of(b)),
        pc(bench::data_of(c)), py(bench::data_of(y)) {
    check();
  }

  std::int64_t items() const { return n; }
  void tenure() { workloads::forward.into(y)(x, a, b, c); }
  void eigen() {
    const in_map vx(px, n), va(pa, n), vb(pb, n), vc(pc, n);
    out_map(py, n) = (-vx * vx).exp() * va + vb.tanh() * vc;
  }
  void eigen_exp() {
    const in_map vx(px, n), va(pa, n), vb(pb, n), vc(pc, n);
    out_map(py, n) = (-vx * vx).exp() * va + (T(1) - T(2) / ((T(2) * vb).exp() + T(1))) * vc;
  }
  void libmvec() { libmvec::forward<T>(n, px, pa, pb, pc, py); }
  void stream() { bench::stream<1, T>(n, {py}, px, pa, pb, pc); }

 private:
  void check() {
    const double tolerance = sizeof(T) == 8 ? 1e-13 : 2e-6;
    eigen();
    const auto wanted = y.clone();
    const auto compare = [&](const char* who) { bench::require_agreement(who, py, wanted.data(), n, tolerance); };
    eigen_exp(), compare("eigen_exp");
    libmvec(), compare("libmvec");
    tenure(), compare("tenure");
  }
};

template <class T>
void rows(const std::string& name) {
  using w = workload<T>;
  for (const std::int64_t n : bench::sizes) {
    bench::row<w>(name, "tenure", n, [](w& p) { p.tenure(); });
    bench::row<w>(name, "eigen", n, [](w& p) { p.eigen(); });
    bench::row<w>(name, "eigen_exp", n, [](w& p) { p.eigen_exp(); });
    bench::row<w>(name, "libmvec", n, [](w& p) { p.libmvec(); });
    bench::row<w>(name, "stream", n, [](w& p) { p.stream(); });
  }
}

const bool registered = [] {
  bench::keep_heap_warm();
  rows<double>("forward");
  rows<float>("forward_f32");
  return true;
}();

}  // namespace
