// SPDX-License-Identifier: BSL-1.0
// expect: tenure: groups: a group selects no parameter of the model
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/optim/groups.hpp>
namespace tn = tenure;

auto f(std::tuple<tn::tensor<float, tn::shape<2>>>& model) {
  const auto selects = [](std::string_view name, const tn::extents&) {
#ifdef TENURE_MISUSE
    return name == "output.w";
#else
    return name == "0";
#endif
  };
  const tn::optim::groups rule{tn::optim::sgd{}, tn::optim::group{selects, tn::optim::sgd{}}};
  auto state = rule.init(model);
  rule.update(model, model, state);
}
