// SPDX-License-Identifier: BSL-1.0
// expect: extents differ
#include <tenure/tenure.hpp>
