// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eval: the argument is neither an expression, a tensor, a traced value nor a number
#include <tenure/tenure.hpp>
namespace tn = tenure;

float f(std::vector<float>& v) {
#ifdef TENURE_MISUSE
  return tn::eval(v)[0];
#else
  return tn::eval(tn::from(v))(0);
#endif
}
