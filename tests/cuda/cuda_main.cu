// SPDX-License-Identifier: BSL-1.0
// Skips (77) where there is no GPU: that these tests compile is then all they show.
#define CATCH_CONFIG_RUNNER
#include "../catch.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  int devices = 0;
  if (const cudaError_t found = cudaGetDeviceCount(&devices); found != cudaSuccess || devices == 0) {
    std::printf("no GPU (%s): compiled, not run\n", cudaGetErrorString(found));
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
