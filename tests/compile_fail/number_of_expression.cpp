// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conversion to a number: an expression does not convert to a number by itself
#include <tenure/tenure.hpp>
namespace tn = tenure;

double f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return sum(x * x);
#else
  return sum(x * x).item();
#endif
}
