// SPDX-License-Identifier: BSL-1.0
// expect: tenure: model: the member settings::name is neither a parameter, a model nor an array of them
// lines: 22
#include <string>

#include <tenure/tenure.hpp>
namespace tn = tenure;

struct settings {
  tn::tensor<float, tn::shape<>> rate;
#ifdef TENURE_MISUSE
  std::string name;
#else
  static constexpr const char* name = "of the model";
#endif
};
struct both {
  std::array<settings, 2> of;
};

constexpr auto f = tn::compile([](auto s, auto x) { return s.of[0].rate * x; });
auto g(const both& s, const tn::tensor<float, tn::shape<3>>& x) { return f(s, x); }
