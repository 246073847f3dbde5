// SPDX-License-Identifier: BSL-1.0
// y = exp(-x x) a + tanh(b) c. forward is float64, forward_f32 float32; eigen takes .tanh(), which Eigen 3.4 has as packets for
// float only, eigen_exp writes tanh through exp, as its users do for double. forward_deep_f32 goes five times over its values.
#include <harness.hpp>
#include <workloads.hpp>

#include <tenure/threads.hpp>

#include "libmvec.hpp"

namespace {

namespace tn = tenure;

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

/// forward_deep, on one thread and on two.
struct deep {
  using eigen_array = Eigen::Array<float, Eigen::Dynamic, 1>;

  workload<float> data;
  tn::thread_pool two{2};
  tn::compiled<decltype(workloads::forward_deep)> on_one{};
  tn::compiled<decltype(workloads::forward_deep), tn::thread_pool> on_two{{}, two};

  explicit deep(std::int64_t n) : data(n) {
    eigen();
    const auto wanted = data.y.clone();
    tenure(), bench::require_agreement("forward_deep", data.py, wanted.data(), n, 1e-4);
    const auto bits = data.y.clone();
    tenure_2_threads(), bench::require_agreement("forward_deep, 2 threads", data.py, bits.data(), n, 0);
  }

  std::int64_t items() const { return data.n; }
  void tenure() { on_one.into(data.y)(data.x, data.a, data.b, data.c); }
  void tenure_2_threads() { on_two.into(data.y)(data.x, data.a, data.b, data.c); }
  void eigen() {
    using map = Eigen::Map<const eigen_array, Eigen::Aligned64>;
    const map x(data.px, data.n), a(data.pa, data.n), b(data.pb, data.n), c(data.pc, data.n);
    Eigen::Map<eigen_array, Eigen::Aligned64> y(data.py, data.n);
    y = (-x * x).exp() * a + (b * x).tanh() * c;
    for (int i = 1; i < 5; ++i) y = (-y * y).exp() * a + (b * y).tanh() * c;
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
  for (const std::int64_t n : {100000, 10000000}) {
    bench::row<deep>("forward_deep_f32", "tenure", n, [](deep& p) { p.tenure(); });
    bench::row<deep>("forward_deep_f32", "tenure_2_threads", n, [](deep& p) { p.tenure_2_threads(); });
    bench::row<deep>("forward_deep_f32", "eigen", n, [](deep& p) { p.eigen(); });
    bench::row<deep>("forward_deep_f32", "stream", n, [](deep& p) { p.data.stream(); });
  }
  return true;
}();

}  // namespace
