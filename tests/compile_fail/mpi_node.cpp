// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mpi: the argument is a node, and a call writes values without a history: give a tensor without a gradient
// lines: 20
#include <tenure/mpi.hpp>
namespace tn = tenure;

void f(const tn::variable<double, tn::shape<3>>& x, tn::mpi::group& world) {
#ifdef TENURE_MISUSE
  tn::tensor y = x * 3.0;
#else
  tn::tensor y = x.detach() * 3.0;
#endif
  tn::mpi::all_reduce_(y, world);
  tn::mpi::broadcast_(y, world);
}
