// SPDX-License-Identifier: BSL-1.0
#include "accuracy.hpp"

TEST_CASE("float packets are within 2 ulp", "[math]") { math_test::check_accuracy<tenure::math::packet_of<float>>("f32", 300000); }
TEST_CASE("float scalars are within 2 ulp", "[math]") { math_test::check_accuracy<float>("f32 one", 100000); }
