// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: the function captures something or is a pointer: give a lambda without captures, and pass what it needs as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

inline double twice(double x) { return 2 * x; }
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(&twice, tn::result<double>);
#else
constexpr auto f = tn::extern_op([](double x) { return twice(x); }, tn::result<double>);
#endif
