// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mpi: the argument is read-only
// lines: 20
#include <tenure/mpi.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
using both = std::tuple<vector, const vector>;
#else
using both = std::tuple<vector, vector>;
#endif

void f(both& x, tn::mpi::group& world) {
  tn::mpi::all_reduce_(x, world);
  tn::mpi::broadcast_(x, world);
}
