// SPDX-License-Identifier: BSL-1.0
// expect: tenure: deepcopy: neither a tensor nor a tuple, an array or a model of tensors that own their memory
#include <tenure/tenure.hpp>

#include <array>
#include <vector>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using tensors = std::vector<tn::tensor<float, tn::shape<3>>>;
#else
using tensors = std::array<tn::tensor<float, tn::shape<3>>, 2>;
#endif

void f(const tensors& all) { auto copy = tn::deepcopy(all); }
