// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <cmath>

#include <tenure/backend/reference/run.hpp>

#include "../catch.hpp"

namespace golden {
namespace {

constexpr double relative = 1e-10, absolute = 1e-12;

bool close(double wanted, double got) {
  if (wanted != wanted) return got != got;
  if (std::isinf(wanted) || std::isinf(got)) return wanted == got;
  return std::abs(got - wanted) <= absolute + relative * std::abs(wanted);
}

void agree(const char* id, const char* route, const std::vector<expectation>& expected,
           const std::vector<reference::array>& got) {
  if (got.empty()) return;
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const expectation& e = expected[k];
    std::int64_t i = 0;
    while (i < got[k].size() && (close(e.numbers[i], got[k][i]) || close(e.other[i], got[k][i]))) ++i;
    INFO(id << ", " << route << ", " << e.what << " of argument " << e.argument << ", element " << i);
    const bool is_golden = i == got[k].size();
    if (!is_golden) UNSCOPED_INFO(got[k][i] << " instead of " << e.numbers[i]);
    CHECK(is_golden);
  }
}

}  // namespace

std::vector<reference::array> interpret(const ir::graph_view& g, const std::vector<reference::array>& arguments) {
  return reference::run(g, arguments);
}

void agree(const char* id, const std::vector<expectation>& expected, const outcome& got) {
  REQUIRE(!got.as_traced.empty());
  agree(id, "compiled", expected, got.compiled);
  agree(id, "kernels of the GPU", expected, got.by_kernels);
  agree(id, "reference of the graph as traced", expected, got.as_traced);
  agree(id, "reference of the graph as scheduled", expected, got.as_scheduled);
}

}  // namespace golden
