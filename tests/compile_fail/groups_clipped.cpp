// SPDX-License-Identifier: BSL-1.0
// expect: tenure: groups: a rule that changes the gradients of the whole model, as clipped, does nothing inside groups: write clipped{groups{...}, max_norm}
// lines: 15
#include <tenure/tenure.hpp>
#include <tenure/optim/groups.hpp>
using tenure::optim::clipped, tenure::optim::group, tenure::optim::groups, tenure::optim::sgd, tenure::optim::vectors;

#ifdef TENURE_MISUSE
const groups rule{clipped{sgd{}, 1.0}, group{vectors, clipped{sgd{}, 1.0}}};
#else
const clipped rule{groups{sgd{}, group{vectors, sgd{}}}, 1.0};
#endif
