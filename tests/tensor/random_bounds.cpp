// SPDX-License-Identifier: BSL-1.0
// Bounds of uniform() for which no uniform distribution exists: nothing is drawn.
#include <limits>

#include <tenure/tensor/random.hpp>

#include "catch.hpp"

namespace tn = tenure;
using tn::shape;

TEST_CASE("uniform() refuses an interval that is reversed, or whose length is no number") {
  tn::engine g(1);
  const tn::engine before = g;
  CHECK_THROWS_WITH(tn::uniform<double>(shape<4>{}, g, 1.0, -1.0), "tenure: uniform: the lower bound is above the upper bound, or a bound is NaN");
  CHECK_THROWS_WITH(tn::uniform<float>(shape<4>{}, g, -3e38, 3e38), "tenure: uniform: the difference of the bounds is no finite number");
  CHECK_THROWS_AS((tn::uniform<double>(shape<4>{}, g, -1e308, 1e308)), tn::error);
  CHECK_THROWS_AS((tn::uniform<double>(shape<4>{}, g, 0.0, std::numeric_limits<double>::quiet_NaN())), tn::error);
  CHECK_THROWS_AS((tn::uniform<float>(shape<4>{}, g, 0.0, 1e300)), tn::error);
  CHECK(g == before);
  CHECK(tn::uniform<double>(shape<1>{}, g, 2.0, 2.0)(0) == 2);
  const auto wide = tn::uniform<float>(shape<4>{}, g, -1.5e38, 1.5e38);
  CHECK(wide(0) != wide(1));
}
