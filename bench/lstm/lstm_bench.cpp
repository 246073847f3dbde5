// SPDX-License-Identifier: BSL-1.0
// An LSTM of 16 steps, 64 wide, batch 16, float32: the mean square of the last state, and the gradients of the weights.
#include "hand.hpp"

#include <harness.hpp>
#include <workloads.hpp>

namespace {

namespace tn = tenure;
using workloads::lstm_batch, workloads::lstm_steps, workloads::lstm_width;

struct workload {
  static constexpr int gates = 4 * lstm_width;
  tn::tensor<float, tn::shape<lstm_width, gates>> wx, wh, dwx, dwh;
  tn::tensor<float, tn::shape<gates>> bias, dbias;
  tn::tensor<float, tn::shape<lstm_steps, lstm_batch, lstm_width>> x;
  tn::tensor<float, tn::shape<>> value;
  hand::lstm<lstm_steps, lstm_batch, lstm_width> by_hand;

  explicit workload(std::int64_t) {
    fill(wx, 0.125, 1), fill(wh, 0.125, 2), fill(bias, 0.125, 3), fill(x, 1, 4);
    copy(wx, by_hand.wx), copy(wh, by_hand.wh), copy(bias, by_hand.bias), copy(x, by_hand.x);  // ours by rows, Eigen's by columns
    tenure(), by_hand.step();
    bench::require_agreement("lstm", value.data(), &by_hand.value, 1, 1e-5);
    compare(dwx, by_hand.dwx), compare(dwh, by_hand.dwh), compare(dbias, by_hand.dbias);
    scan();
    compare(dwx, by_hand.dwx), compare(dwh, by_hand.dwh), compare(dbias, by_hand.dbias);
  }
  std::int64_t items() const { return lstm_steps * lstm_batch; }
  void tenure() { workloads::lstm.into(value, dwx, dwh, dbias)(wx, wh, bias, x); }
  void scan() { workloads::lstm_by_scan.into(value, dwx, dwh, dbias)(wx, wh, bias, x); }

 private:
  template <class X>
  static void fill(X& x, double bound, unsigned seed) { bench::fill_uniform(bench::data_of(x), x.size(), -bound, bound, seed); }
  template <class X, class M>
  static void copy(const X& x, M& to) { std::copy_n(x.data(), x.size(), to.data()); }
  template <class X, class M>
  static void compare(const X& x, const M& wanted) { bench::require_agreement("lstm", x.data(), wanted.data(), x.size(), 1e-4); }
};

const bool registered = [] {
  bench::keep_heap_warm();
  bench::row<workload>("lstm", "tenure", lstm_steps, [](workload& p) { p.tenure(); });
  bench::row<workload>("lstm", "scan", lstm_steps, [](workload& p) { p.scan(); });
  bench::row<workload>("lstm", "hand", lstm_steps, [](workload& p) { p.by_hand.step(); });
  return true;
}();

}  // namespace
