// SPDX-License-Identifier: BSL-1.0
// expect: tenure: groups: no parameter that is left for this group has its mark: a mark is an annotation of a member, ..=tn::no_decay.., and takes C\+\+26 with reflection: elsewhere select by name or shape
#include <tenure/tenure.hpp>
#include <tenure/optim/groups.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto selector = tn::no_decay;
#else
constexpr auto selector = tn::optim::vectors;
#endif

auto f(std::tuple<tn::tensor<float, tn::shape<2>>>& model) {
  const tn::optim::groups rule{tn::optim::sgd{.weight_decay = 0.1}, tn::optim::group{selector, tn::optim::sgd{}}};
  return rule.init(model);
}
