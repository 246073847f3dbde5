// SPDX-License-Identifier: BSL-1.0
//
// One include for Catch2 2.13 and 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
