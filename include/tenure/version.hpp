// SPDX-License-Identifier: BSL-1.0
//
// The version of the library: major * 10000 + minor * 100 + patch. The build system and the installed
// package read it from this line, so it is stated nowhere else.
#pragma once

#define TENURE_VERSION 300  // 0.3.0
