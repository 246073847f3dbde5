// SPDX-License-Identifier: BSL-1.0
// expect: tenure: random: the engine does not produce whole bits
#include <tenure/tenure.hpp>
#include <random>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using engine = std::minstd_rand;
#else
using engine = std::mt19937;
#endif

auto f(engine& random) { return tn::uniform(tn::shape<3>{}, random); }
