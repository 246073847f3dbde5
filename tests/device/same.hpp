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

inline bool agrees(double there, double here) { return std::fabs(there - here) <= tolerance * std::fmax(1, std::fabs(here)); }
inline bool agrees(const list& there, const list& here) {
  bool all = there.size() == here.size();
  for (std::size_t i = 0; all && i < here.size(); ++i) all = agrees(there[i], here[i]);
  return all;
}
inline bool agrees(const std::string& there, const std::string& here) { return there == here; }

/// `run` gets a matrix on the host and the same one on the device; what it returns must agree.
template <class Device, class Run>
void same_on(Device device, Run run) {
  const matrix x{{1, -2, 3}, {0.5, 5, -6}};
  const auto here = run(x.clone());
  const auto there = run(x.to(device));
  CAPTURE(there, here);
  CHECK(agrees(there, here));
}

}  // namespace device_tests
