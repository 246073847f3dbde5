// SPDX-License-Identifier: BSL-1.0
// Each of scan, fori_loop and cond in a scan and in a fori_loop, and pairs with cond outside, on the CPU backend: values and gradients,
// judged by the reference backend.
#include "nested.hpp"

namespace tn = tenure;
using namespace nested;

namespace {

template <class T, class F>
void compiled_agrees(F, double sign, double tolerance) {
  constexpr auto f = tn::value_and_grad<0, 1>(F{});
  vector<T> w;
  matrix<T> xs;
  fill(w, xs, sign);
  judged::agree(f(w, xs), judged::interpreted(f.function, w, xs), tolerance);
}

}  // namespace

TEST_CASE("scan, fori_loop and cond in a scan, compiled") {
  compiled_agrees<double>([](auto w, auto xs) { return three_pairs(in_scan, w, xs); }, 1, 1e-12);
}
TEST_CASE("scan, fori_loop and cond in a fori_loop, compiled, of float32") {
  compiled_agrees<float>([](auto w, auto xs) { return three_pairs(in_fori_loop, w, xs); }, 1, 1e-5);
}
TEST_CASE("a cond in a cond, compiled, of float32") {
  constexpr auto f = [](auto w, auto xs) { return in_cond(by_branch, w, xs); };
  compiled_agrees<float>(f, 1, 1e-5);
  compiled_agrees<float>(f, -1, 1e-5);
}
