// SPDX-License-Identifier: BSL-1.0
// The main of a test executable under Catch2 version 2; version 3 links its own.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
