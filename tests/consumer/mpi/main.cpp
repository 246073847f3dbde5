// SPDX-License-Identifier: BSL-1.0
// Adds the numbers of two processes.
#include <tenure/mpi.hpp>

#include <cstdio>

namespace tn = tenure;

int main() {
  tn::mpi::group world;
  tn::tensor<double, tn::shape<2>> x{1.0 + world.rank(), 10};
  tn::mpi::all_reduce_(x, world);
  std::printf("rank %d of %d: %g %g\n", world.rank(), world.size(), x(0), x(1));
  return world.size() == 2 && x(0) == 3 && x(1) == 20 ? 0 : 1;
}
