// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_eigen: the tensor is tracked: detach
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

void f(tn::variable<double, tn::shape<2, 2>>& w) {
#ifdef TENURE_MISUSE
  tn::as_eigen(w).setZero();
#else
  auto alias = w.detach();
  tn::as_eigen(alias).setZero();
#endif
}
