// SPDX-License-Identifier: BSL-1.0
// The element types of files: those of tensors, and others, which are read and converted. Their name within the library is NumPy's, such as "<f4"; eight
// types of .safetensors that NumPy lacks keep the name that they have there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tenure/interop/npy.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// An element type that a file may have.
struct file_type {
  std::string_view dtype;        // NumPy's name in a file
  std::string_view safetensors;  // the name in a .safetensors file
  std::string_view name;         // in messages
  std::uint64_t bits;
};
inline constexpr auto file_types = [] {
  constexpr file_type others[] = {
      {"<i2", "I16", "int16", 16},
      {"<u2", "U16", "uint16", 16},
      {"<u4", "U32", "uint32", 32},
      {"<u8", "U64", "uint64", 64},
      {"<c8", "C64", "complex64", 64},
      {"F8_E4M3", "F8_E4M3", "F8_E4M3", 8},
      {"F8_E5M2", "F8_E5M2", "F8_E5M2", 8},
      {"F8_E8M0", "F8_E8M0", "F8_E8M0", 8},
      {"F8_E4M3FNUZ", "F8_E4M3FNUZ", "F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", "F8_E5M2FNUZ", "F8_E5M2FNUZ", 8},
      {"F6_E2M3", "F6_E2M3", "F6_E2M3", 6},
      {"F6_E3M2", "F6_E3M2", "F6_E3M2", 6},
      {"F4", "F4", "F4", 4},
  };
  constexpr std::size_t rows = std::size(tenure::detail::element_rows);
  std::array<file_type, rows + std::size(others)> all{};
  std::size_t at = 0;
  for (const tenure::detail::element_row& row : tenure::detail::element_rows) all[at++] = {row.npy, row.safetensors, row.name, 8 * static_cast<std::uint64_t>(row.bytes)};
  for (const file_type& other : others) all[at++] = other;
  return all;
}();

/// The type of this name, or null.
constexpr const file_type* type_of_dtype(std::string_view dtype) {
  for (const file_type& type : file_types)
    if (type.dtype == dtype) return &type;
  return nullptr;
}
constexpr const file_type* type_of_safetensors(std::string_view name) {
  for (const file_type& type : file_types)
    if (type.safetensors == name) return &type;
  return nullptr;
}

/// The size of a dense array in bytes. Fails if no memory holds it, or if its last byte is not full.
inline std::uint64_t bytes_of_array(const file_type& type, std::span<const std::int64_t> shape, const place& where) {
  constexpr std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t bits = type.bits * dense_elements(shape, most / type.bits, where);
  if (bits % 8 != 0) where.fail(std::to_string(bits / type.bits) + " elements of " + std::string(type.name) + " do not fill whole bytes");
  return bits / 8;
}

}  // namespace tenure::interop::detail
