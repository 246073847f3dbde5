// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a target is read-only
// lines: 20
// A tuple of references to which one may not write.
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;

#ifdef TENURE_MISUSE
void f(const vector& x, vector& y) {
#else
void f(vector& x, vector& y) {
#endif
  const auto both = std::tie(x, y);
  tn::load("x.npz", both);
}
