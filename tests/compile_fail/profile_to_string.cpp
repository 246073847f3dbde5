// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_string: the text of a plan and of a profile is to_text.x.
#include <tenure/profile.hpp>

#include <string>
namespace tn = tenure;

std::string f(const tn::call_profile& times) {
#ifdef TENURE_MISUSE
  return to_string(times);
#else
  return to_text(times);
#endif
}
