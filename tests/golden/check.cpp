// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <cmath>

#include "../catch.hpp"

namespace golden {
namespace {

constexpr double relative = 1e-10, absolute = 1e-12;

bool close(double wanted, double got) {
  if (wanted != wanted) return got != got;
  if (std::isinf(wanted) || std::isinf(got)) return wanted == got;
  return std::abs(got - wanted) <= absolute + relative * std::abs(wanted);
}

}  // namespace

void agree(const subject& s, const double* wanted, const double* got, std::int64_t n) {
  agree(s, wanted, wanted, got, n);
}

void agree(const subject& s, const double* wanted, const double* other, const double* got, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const bool is_golden = close(wanted[i], got[i]) || close(other[i], got[i]);
    if (!is_golden) {
      INFO(s.id << ", " << s.what << " of argument " << s.number << ", element " << i << ": " << got[i]
                << " instead of " << wanted[i]);
      CHECK(is_golden);
    }
  }
  CHECK(n >= 0);
}

}  // namespace golden
