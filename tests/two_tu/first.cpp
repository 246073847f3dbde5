// SPDX-License-Identifier: BSL-1.0
#include <tenure/tenure.hpp>

int version_of_second();

int main() { return version_of_second() == TENURE_VERSION ? 0 : 1; }
