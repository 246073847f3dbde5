// SPDX-License-Identifier: BSL-1.0
// What a file is that only includes the library; how it is compiled is the test.
#include <tenure/tenure.hpp>

int main() {}
