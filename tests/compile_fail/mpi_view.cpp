// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mpi: an argument is not a tensor that owns its memory on the host, nor a tuple, an array or a model of such tensors
// lines: 12
#include <tenure/tenure.hpp>
#include <tenure/distributed/collectives.hpp>
namespace tn = tenure;

void f(tn::tensor<float, tn::shape<4, 3>>& x, tn::mpi::group& world) {
#ifdef TENURE_MISUSE
  auto row = x[0];
#else
  auto row = x[0].clone();
#endif
  tn::mpi::all_reduce_(row, world);
}
