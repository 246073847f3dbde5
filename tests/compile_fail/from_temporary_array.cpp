// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the array is a temporary
#include <tenure/tenure.hpp>
#include <array>
namespace tn = tenure;

auto f() {
#ifdef TENURE_MISUSE
  return tn::from(std::array{1.f, 2.f}).clone();
#else
  const std::array memory{1.f, 2.f};
  return tn::from(memory).clone();
#endif
}
