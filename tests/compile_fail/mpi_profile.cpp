// SPDX-License-Identifier: BSL-1.0
// expect: tenure: profile: a training step with a group is not profiled: take train_step.loss, rule., without the group
#include <tenure/mpi.hpp>
#include <tenure/profile.hpp>
#include <tuple>
namespace tn = tenure;

using model = std::tuple<tn::tensor<float, tn::shape<3>>>;
constexpr auto loss = [](auto m, auto x) { return sum(std::get<0>(m) * x); };

void f(model& m, const tn::tensor<float, tn::shape<3>>& x, tn::mpi::group& world) {
  const tn::optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(m);
#ifdef TENURE_MISUSE
  auto step = tn::train_step(loss, rule, world);
#else
  auto step = tn::train_step(loss, rule);
#endif
  auto result = tn::profile(step)(m, state, x);
}
