// SPDX-License-Identifier: BSL-1.0
// expect: tenure: deepcopy: neither a tensor nor a tuple, an array or a model of tensors that own their memory
#include <tenure/tenure.hpp>

#include <tuple>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<2, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::deepcopy(std::tuple{x[0], x[1]});
#else
  return std::tuple{tn::deepcopy(x[0]), tn::deepcopy(x[1])};
#endif
}
