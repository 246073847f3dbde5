// SPDX-License-Identifier: BSL-1.0
// A profile of a function whose unit has no debug information: the build compiles this file with -g0.
#define TENURE_PROFILE_LINES 1
#include "catch.hpp"

#include <string>

#include <tenure/profile.hpp>

namespace tn = tenure;

TEST_CASE("without debug information a profile says so, and has the operations") {
  constexpr auto loss = [](auto w, auto x) { return sum(tanh(matmul(x, w))); };
  const auto x = tn::full<float>(tn::shape<32, 32>{}, 0.5f);
  const tn::call_profile p = tn::profile(tn::value_and_grad<0>(loss), 2)(x, x);
  INFO(to_text(p));
  CHECK(p.no_lines == "no source lines: compile with -g, and have addr2line in the path");
  bool has_backward = false;
  for (const auto& q : p.places) {
    CHECK(q.file.empty());
    has_backward = has_backward || (q.is_backward && q.operations == "matmul");
  }
  CHECK(has_backward);
  CHECK(to_text(p).find("\n\n" + p.no_lines + "\n") != std::string::npos);
}
