// SPDX-License-Identifier: BSL-1.0
// expect: unresolved overloaded function type|reference to non-static member function must be called
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::variable<double, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(w.grad * 2);
#else
  return tn::eval(w.grad() * 2);
#endif
}
