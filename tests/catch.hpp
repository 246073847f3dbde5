// SPDX-License-Identifier: BSL-1.0
//
// One include for Catch2 2.13 and 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;

namespace Catch::Matchers {
// Catch2 3 has this name for the elements of a range.
inline auto Contains(const char* text) { return ContainsSubstring(text); }
inline auto Contains(const std::string& text) { return ContainsSubstring(text); }
inline auto Contains(std::string& text) { return ContainsSubstring(text); }
inline auto Contains(std::string&& text) { return ContainsSubstring(text); }
}  // namespace Catch::Matchers
#else
#include <catch2/catch.hpp>
#endif
