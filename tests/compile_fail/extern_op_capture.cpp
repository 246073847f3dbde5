// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: the function captures something or is a pointer: give a lambda without captures, and pass what it needs as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
auto with(double a) { return tn::extern_op([a](double x) { return a * x; }, tn::result<double>); }
#else
auto with(double) { return tn::extern_op([](double x, double a) { return a * x; }, tn::result<double>); }
#endif
