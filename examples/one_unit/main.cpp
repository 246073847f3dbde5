// SPDX-License-Identifier: BSL-1.0
// A program that uses a model by its interface.
#include "track.hpp"

#include <cstdio>

int main() {
  track t;
  for (int i = 1; i <= 50; ++i) update(t, 0.7 * i, 1.0);
  std::printf("position %.3f, speed %.3f\n", t.state[0], t.state[1]);
}
