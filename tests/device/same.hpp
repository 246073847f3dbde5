// SPDX-License-Identifier: BSL-1.0
// What is computed on a device beside the same on the host. Bit for bit where the device's kernels are the host's, to a few ulp on
// a GPU, whose multiplications and additions contract otherwise.
#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../difference.hpp"

namespace device_tests {

using namespace tenure;
using tenure::all;  // CUDA has a function of that name outside of all namespaces
using list = std::vector<double>;
using matrix = tensor<double, shape<2, 3>>;

#if defined(TENURE_TEST_CUDA)
constexpr double tolerance = 1e-12;
#else
constexpr double tolerance = 0;
#endif

template <class X>
list elements(const X& x) {
  const auto here = x.detach().to(cpu).clone();
  return {here.data(), here.data() + here.size()};
}

inline difference agrees(double there, double here) {
  if (std::fabs(there - here) <= tolerance * std::fmax(1, std::fabs(here))) return {};
  return difference_of(there, " there, ", here, " here");
}
inline difference agrees(const list& there, const list& here) {
  if (there.size() != here.size()) return difference_of(there.size(), " elements there, ", here.size(), " here");
  for (std::size_t i = 0; i < here.size(); ++i)
    if (const difference d = agrees(there[i], here[i]); !d) return difference_of("element ", i, ": ", d);
  return {};
}
inline difference agrees(const std::string& there, const std::string& here) { return there == here ? difference{} : difference_of(there, " there, ", here, " here"); }

/// `run` gets a matrix on the host and the same one on the device; what it returns must agree.
template <class Device, class Run>
void same_on(Device device, Run run) {
  const matrix x{{1, -2, 3}, {0.5, 5, -6}};
  const auto here = run(x.clone());
  const auto there = run(x.to(device));
  CHECK(agrees(there, here));
}

}  // namespace device_tests
