// SPDX-License-Identifier: BSL-1.0
#include "accuracy.hpp"

// Law: every function is within 2 ulp, whatever the width.
TEST_CASE("double packets are within 2 ulp", "[math]") { math_test::check_accuracy<tenure::math::packet_of<double>>("f64", 300000); }
TEST_CASE("double scalars are within 2 ulp", "[math]") { math_test::check_accuracy<double>("f64 one", 100000); }
