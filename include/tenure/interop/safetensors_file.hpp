// SPDX-License-Identifier: BSL-1.0
// .safetensors files: named arrays behind a header of JSON, as PyTorch's users exchange weights.
// Law: read_safetensors(p) after write_safetensors(p, arrays) gives the same arrays, bit for bit, those with the longest elements first.
// Errors: tenure::io_error, as in npy.hpp. If a write fails, an existing file is unchanged.
// Cost: reading needs memory for two copies of the data, that of the file and that of the arrays.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tenure/interop/safetensors_header.hpp>

namespace TENURE_NAMESPACE::interop {

/// What a .safetensors file holds. The dtype of an array is NumPy's name, such as "<f4", "<V2" for bfloat16 and "<f2" for F16; types that NumPy lacks keep
/// the name of the file, such as "F8_E4M3". The metadata are the pairs of __metadata__.
struct safetensors {
  std::vector<array> arrays;
  std::vector<std::pair<std::string, std::string>> metadata;
};

namespace detail {

inline void write_safetensors_file(const std::filesystem::path& path, std::span<const array_view> arrays, const text_map& metadata) {
  place where = place_of("save", path);
  // Behind longer elements each array begins at a multiple of its elements, as a mapping needs it.
  std::vector<const array_view*> order;
  for (const std::uint64_t bits : {64u, 32u, 16u, 8u, 6u, 4u})
    for (const array_view& a : arrays) {
      where.entry = a.name;
      const file_type* const type = type_of_dtype(a.dtype);
      if (type == nullptr) where.fail("dtype " + in_quotes(a.dtype) + " is not supported");
      if (type->bits == bits) order.push_back(&a);
    }

  std::vector<described_array> described;
  std::uint64_t reached = 0;
  for (const array_view* a : order) {
    where.entry = a->name;
    const file_type* const type = type_of_dtype(a->dtype);
    const std::uint64_t expected = bytes_of_array(*type, a->shape, where);
    if (a->bytes.size() != expected)
      where.fail(std::to_string(a->bytes.size()) + " bytes given where " + std::string(type->name) + " of shape " + shape_text(a->shape) + " has " + std::to_string(expected));
    if (a->name == metadata_name) where.fail("this name is that of the metadata");
    described.push_back({std::string(a->name), type, {a->shape.begin(), a->shape.end()}, reached, reached + expected});
    reached += expected;
  }
  where.entry.clear();
  const std::string header = header_text(described, metadata, where);
  {
    std::string_view text(header);
    header_parser(text.substr(length_bytes), where);  // refuses a name that is there twice
  }
  replacement file(path, where);
  file.write(std::as_bytes(std::span(header)));
  for (const array_view* a : order) file.write(a->bytes);
  file.commit();
}

/// Views of the arrays of a header. They refer to the header and to the bytes of the file.
inline std::vector<array_view> views_of(const safetensors_header& header, std::span<const std::byte> file) {
  std::vector<array_view> views;
  for (const described_array& a : header.arrays)
    views.push_back({a.name, a.type->dtype, a.shape, file.subspan(header.data + a.begin, a.end - a.begin)});
  return views;
}

inline safetensors copied_arrays(std::span<const std::byte> file, const place& where) {
  safetensors_header header = read_header(file, where);
  safetensors made{{}, std::move(header.metadata)};
  for (const array_view& a : views_of(header, file))
    made.arrays.push_back({std::string(a.name), std::string(a.dtype), {a.shape.begin(), a.shape.end()}, {a.bytes.begin(), a.bytes.end()}});
  return made;
}

}  // namespace detail

/// Writes arrays with different names, those with the longest elements first, and pairs of text as metadata. An existing file is replaced in one step at the
/// end. Throws io_error; then an existing file is unchanged.
inline void write_safetensors(const std::filesystem::path& path, std::span<const array_view> arrays,
                              const std::vector<std::pair<std::string, std::string>>& metadata = {}) {
  detail::write_safetensors_file(path, arrays, metadata);
}

/// Reads every array, in the order of their bytes, and the metadata. Throws io_error.
inline safetensors read_safetensors(const std::filesystem::path& path) {
  const detail::place where = detail::place_of("load", path);
  detail::input file(path, where);
  return detail::copied_arrays(file.read(0, file.size()), where);
}
/// The same of a file in memory, for example one that is part of the program. Messages call it "memory".
inline safetensors read_safetensors(std::span<const std::byte> bytes) { return detail::copied_arrays(bytes, {"load", "memory"}); }

}  // namespace tenure::interop

#include <tenure/core/letters/restore.hpp>
