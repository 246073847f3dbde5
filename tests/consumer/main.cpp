// SPDX-License-Identifier: BSL-1.0
//
// What a user's first program looks like; built four ways (see CMakeLists.txt).
#include <tenure/version.hpp>

#include <cstdio>

int main() {
  std::printf("tenure %d\n", TENURE_VERSION);
}
