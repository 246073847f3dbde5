// SPDX-License-Identifier: BSL-1.0
// What every unit of a program offers to the others: numbers by pointer, no type of Tenure.
#pragma once

/// A product, its gradient and a softmax, each against a plain loop. Returns the number of wrong elements, and prints the first of each kind.
using unit_function = int();
unit_function narrow_unit, wide_unit, wider_unit, one_lane_unit;
