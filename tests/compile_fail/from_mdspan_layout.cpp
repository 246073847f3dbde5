// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the layout of the mdspan has no strides
#include <tenure/tenure.hpp>
#include <tenure/interop/mdspan.hpp>
namespace tn = tenure;

struct span {
  using element_type = float;
  using extents_type = int;
  using mapping_type = int;
  struct accessor_type {
    float& access(float* p, std::size_t i) const { return p[i]; }
  };
  float* first;
  float* const& data_handle() const { return first; }
  accessor_type accessor() const { return {}; }
#ifdef TENURE_MISUSE
  static constexpr bool is_always_strided() { return false; }
#else
  static constexpr bool is_always_strided() { return true; }
#endif
  static constexpr std::size_t rank() { return 1; }
  static constexpr std::size_t static_extent(std::size_t) { return 3; }
  std::size_t extent(std::size_t) const { return 3; }
  std::size_t stride(std::size_t) const { return 1; }
};

auto f(const span& x) { return tn::from(x).clone(); }
