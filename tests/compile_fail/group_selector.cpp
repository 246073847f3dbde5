// SPDX-License-Identifier: BSL-1.0
// expect: tenure: group: a selector captures nothing, and takes the name of a parameter, a std::string_view, and its shape, a tn::extents
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/optim/groups.hpp>
namespace tn = tenure;

auto f(std::tuple<tn::tensor<float, tn::shape<2>>>& model) {
#ifdef TENURE_MISUSE
  const auto selects = [](int leaf) { return leaf < 2; };
#else
  const auto selects = [](std::string_view, const tn::extents& shape) { return shape.rank < 2; };
#endif
  const tn::optim::groups rule{tn::optim::sgd{}, tn::optim::group{selects, tn::optim::sgd{}}};
  auto state = rule.init(model);
  rule.update(model, model, state);
}
