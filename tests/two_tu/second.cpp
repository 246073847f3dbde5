// SPDX-License-Identifier: BSL-1.0
#include <tenure/tenure.hpp>

int version_of_second();
int version_of_second() { return TENURE_VERSION; }
