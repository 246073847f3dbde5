// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the move constructor of the deleter must not throw
#include <tenure/tenure.hpp>
#include <cstdlib>
namespace tn = tenure;

struct deleter {
#ifdef TENURE_MISUSE
  deleter(const deleter&);
#else
  deleter(const deleter&) noexcept;
#endif
   void operator()() const { std::free(memory); }
   float* memory;
};

auto f(float* memory, deleter d) { return tn::from<tn::shape<3>>(memory, d); }
