// SPDX-License-Identifier: BSL-1.0
// expect: tenure: groups: pass a rule, and groups, group{selector, rule}, with rules of the same type and other hyperparameters
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/optim/groups.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using other = tn::optim::adam;
#else
using other = tn::optim::sgd;
#endif

const tn::optim::groups rule{tn::optim::sgd{}, tn::optim::group{tn::optim::vectors, other{}}};
