// SPDX-License-Identifier: BSL-1.0
// expect: tenure: train_step: the second argument is not a rule of single steps, as tn::optim::adam{}; L-BFGS is minimize.f, lbfgs{}..model, data
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rule = tn::optim::lbfgs;
#else
using rule = tn::optim::adam;
#endif
constexpr auto loss = [](auto w) { return sum(square(w)); };

auto f() { return tn::train_step(loss, rule{}); }
