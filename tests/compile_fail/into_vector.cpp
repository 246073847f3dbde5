// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a target is neither a tensor nor a tuple, an array or a model of tensors: from.v. is a tensor over a vector, an array or a span
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

void f(std::vector<double>& y, const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  twice.into(y)(x);
#else
  twice.into(tn::from(y))(x);
#endif
}
