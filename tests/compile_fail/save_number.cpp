// SPDX-License-Identifier: BSL-1.0
// expect: tenure: save: a number has no name
#include <tenure/tenure.hpp>
#include <tenure/interop/save.hpp>
namespace tn = tenure;

void f(const tn::tensor<float, tn::shape<4, 3>>& x, std::int64_t epoch) {
#ifdef TENURE_MISUSE
  tn::save("x.npz", x, epoch);
#else
  tn::save("x.npz", x, std::array{epoch});
#endif
}
