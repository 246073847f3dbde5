// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mpi: the argument is read-only
// lines: 20
#include <tenure/mpi.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = const tn::tensor<double, tn::shape<3>>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

void f(vector& x, tn::mpi::group& world) {
  tn::mpi::all_reduce_(x, world);
  tn::mpi::broadcast_(x, world);
}
