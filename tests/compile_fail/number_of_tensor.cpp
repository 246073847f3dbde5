// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conversion to a number: a tensor does not convert to a number by itself
#include <tenure/tenure.hpp>
#include <cmath>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return std::exp(x);
#else
  return tn::exp(x);
#endif
}
