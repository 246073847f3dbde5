// SPDX-License-Identifier: BSL-1.0
// Calls each unit that the processor has the instructions for, the widest first and last.
#include <cstdio>
#include <cstring>

#include "unit.hpp"

// Law: two sets of flags have the same name only if the compiler may use the same instructions and vector widths with both.
int main() {
  struct {
    const char* level;
    unit_function* run;
    bool has;
  } const units[] = {
      {"narrow", narrow_unit, true},
#if defined(WIDE)
      {"wide", wide_unit, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
#endif
  };
  int wrong = 0;
  for (const auto& unit : units) {
    if (!unit.has) {
      std::printf("%s: this processor lacks its instructions\n", unit.level);
      continue;
    }
    const int here = unit.run();
    if (here != 0) std::printf("%s: %d wrong elements\n", unit.level, here);
    wrong += here;
  }
  return wrong == 0 ? 0 : 1;
}
