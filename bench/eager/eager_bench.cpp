// SPDX-License-Identifier: BSL-1.0
// The gradient of sum(sigmoid(a x + b) log1p(exp(c x))) through eager expressions over leaves, beside the compiled form:
// what histories, sinks and counted memory cost. eager_nodes is the same through three nodes, which save what they read.
// eager_uncounted.cpp compiles this file once more, without version counters.
#include <harness.hpp>
#include <workloads.hpp>

#include <tenure/eager/evaluate.hpp>

namespace {

namespace tn = tenure;

struct workload {
  using leaf = tn::variable<double, tn::shape<tn::dyn>>;
  bench::array<double> a, b, c, x, da, db, dc;
  tn::tensor<double, tn::shape<>> value;
  leaf la, lb, lc;

  explicit workload(std::int64_t n)
      : a(bench::uniform_array<double>(n, -1, 1, 1)), b(bench::uniform_array<double>(n, -1, 1, 2)), c(bench::uniform_array<double>(n, -1, 1, 3)),
        x(bench::uniform_array<double>(n, -2, 2, 4)), da(n), db(n), dc(n), la(n), lb(n), lc(n) {
    std::copy_n(a.data(), n, bench::data_of(la)), std::copy_n(b.data(), n, bench::data_of(lb)), std::copy_n(c.data(), n, bench::data_of(lc));
    compiled(), eager();
    const auto ga = la.grad(), gb = lb.grad(), gc = lc.grad();
    bench::require_agreement("eager da", ga.data(), da.data(), n, 1e-12);
    bench::require_agreement("eager db", gb.data(), db.data(), n, 1e-12);
    bench::require_agreement("eager dc", gc.data(), dc.data(), n, 1e-12);
  }
  std::int64_t items() const { return x.size(); }
  void compiled() { workloads::gradient.into(value, da, db, dc)(a, b, c, x); }
  void eager() {
    la.zero_grad(), lb.zero_grad(), lc.zero_grad();
    sum(sigmoid(la * x + lb) * log1p(exp(lc * x))).backward();
  }
  void nodes() {
    la.zero_grad(), lb.zero_grad(), lc.zero_grad();
    const tn::tensor left = sigmoid(la * x + lb);
    const tn::tensor right = log1p(exp(lc * x));
    const tn::tensor product = sum(left * right);
    product.backward();
  }
};

const bool registered = [] {
  bench::keep_heap_warm();
  for (const std::int64_t n : {16, 1000, 100000}) {
    const char* const counted = TENURE_VERSION_COUNTERS ? "tenure" : "uncounted";
    bench::row<workload>("eager", counted, n, [](workload& p) { p.eager(); });
    bench::row<workload>("eager_nodes", counted, n, [](workload& p) { p.nodes(); });
    if (TENURE_VERSION_COUNTERS) bench::row<workload>("eager", "compiled", n, [](workload& p) { p.compiled(); });
  }
  return true;
}();

}  // namespace
