// SPDX-License-Identifier: BSL-1.0
// L = sum(sigmoid(a x + b) log1p(exp(c x))): the value and three gradients. gradient is float64, gradient_f32 float32.
#include <harness.hpp>
#include <workloads.hpp>

#include "hand.hpp"
#include "libmvec.hpp"

namespace {

namespace tn = tenure;

template <class T>
struct workload {
  bench::array<T> a, b, c, x, da, db, dc;
  tn::tensor<T, tn::shape<>> value;
  hand::arrays<T> arrays;
  std::int64_t n;
  T *pa, *pb, *pc, *px, *pda, *pdb, *pdc;

  explicit workload(std::int64_t size)
      : a(bench::uniform_array<T>(size, -1, 1, 1)), b(bench::uniform_array<T>(size, -1, 1, 2)), c(bench::uniform_array<T>(size, -1, 1, 3)),
        x(bench::uniform_array<T>(size, -2, 2, 4)), da(size), db(size), dc(size), n(size),
        pa(bench::data_of(a)), pb(bench::data_of(b)), pc(bench::data_of(c)), px(bench::data_of(x)), pda(bench::data_of(da)),
        pdb(bench::data_of(db)), pdc(bench::data_of(dc)) {
    check();
  }

  std::int64_t items() const { return n; }
  void tenure() { workloads::gradient.into(value, da, db, dc)(a, b, c, x); }
  template <bool Accurate>
  T by_hand() { return hand::gradient<Accurate, T>(n, pa, pb, pc, px, pda, pdb, pdc); }
  T by_arrays() { return arrays.gradient(n, pa, pb, pc, px, pda, pdb, pdc); }
  T by_libmvec() { return libmvec::gradient<T>(n, pa, pb, pc, px, pda, pdb, pdc); }
  void stream() { bench::stream<3, T>(n, {pda, pdb, pdc}, pa, pb, pc, px); }

 private:
  void check() {
    const double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;
    const T wanted = by_hand<true>();
    const auto wanted_da = da.clone(), wanted_db = db.clone(), wanted_dc = dc.clone();
    const auto compare = [&](const char* who, T got) {
      bench::require_agreement(who, &got, &wanted, 1, tolerance * 10);
      bench::require_agreement(who, pda, wanted_da.data(), n, tolerance);
      bench::require_agreement(who, pdb, wanted_db.data(), n, tolerance);
      bench::require_agreement(who, pdc, wanted_dc.data(), n, tolerance);
    };
    compare("hand", by_hand<false>());
    compare("eigen", by_arrays());
    compare("libmvec", by_libmvec());
    tenure();
    compare("tenure", value.item());
  }
};

template <class T>
void rows(const std::string& name) {
  using w = workload<T>;
  for (const std::int64_t n : bench::sizes) {
    bench::row<w>(name, "tenure", n, [](w& p) { p.tenure(); });
    bench::row<w>(name, "hand", n, [](w& p) { benchmark::DoNotOptimize(p.template by_hand<false>()); });
    bench::row<w>(name, "hand_log1p", n, [](w& p) { benchmark::DoNotOptimize(p.template by_hand<true>()); });
    bench::row<w>(name, "eigen", n, [](w& p) { benchmark::DoNotOptimize(p.by_arrays()); });
    bench::row<w>(name, "libmvec", n, [](w& p) { benchmark::DoNotOptimize(p.by_libmvec()); });
    bench::row<w>(name, "stream", n, [](w& p) { p.stream(); });
  }
}

const bool registered = [] {
  bench::keep_heap_warm();
  rows<double>("gradient");
  rows<float>("gradient_f32");
  return true;
}();

}  // namespace
