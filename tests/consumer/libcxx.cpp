// SPDX-License-Identifier: BSL-1.0
// Compiles where libc++ is installed.
#include <version>
