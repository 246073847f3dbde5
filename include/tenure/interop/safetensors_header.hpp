// SPDX-License-Identifier: BSL-1.0
// The header of a .safetensors file: eight bytes with its length, then JSON, {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}. Source: the
// format in the README of huggingface/safetensors.
// Law: what is read has every name once, and arrays that cover the data without overlap and without a hole.
// Errors: tenure::io_error, before any array is read. Cost: the names and shapes take up to some ten times the memory of
// the header, which has at most 100 MB.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/interop/file_types.hpp>
#include <tenure/interop/json_reader.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// An array as the header describes it. Its bytes are [begin, end) of the data.
struct described_array {
  std::string name;
  const file_type* type = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};
inline std::string_view name_of(const described_array& a) { return a.name; }
struct safetensors_header {
  std::vector<described_array> arrays;  // in the order of their bytes
  text_map metadata;
  std::uint64_t data = 0;  // where the data begins in the file
};

inline constexpr std::uint64_t length_bytes = 8, most_header_bytes = 100'000'000;
inline constexpr std::string_view metadata_name = "__metadata__";

/// Parses the JSON of a header. Anything but the two levels of the format fails.
class header_parser : json_reader {
 public:
  header_parser(std::string_view text, const place& where) : json_reader("header", text, where) {
    bool has_metadata = false;
    each_member([&](std::string name) {
      if (name != metadata_name) return array(std::move(name));
      if (std::exchange(has_metadata, true)) malformed("__metadata__ appears twice");
      each_member([&](std::string key) { metadata.emplace_back(std::move(key), string()); });
    });
    expect_end();
    require_once(names_of(arrays), "array ", " appears twice");
    require_once(names_of(metadata), "__metadata__ has ", " twice");
  }

  std::vector<described_array> arrays;
  text_map metadata;

 private:
  void array(std::string name) {
    described_array described;
    described.name = std::move(name);
    bool has_type = false, has_shape = false, has_offsets = false;
    const auto once = [&](bool& seen, const char* key) {
      if (std::exchange(seen, true)) malformed(std::string("array ") + in_quotes(described.name) + " has " + key + " twice");
    };
    each_member([&](const std::string& key) {
      if (key == "dtype") {
        once(has_type, "dtype");
        const std::string type = string();
        described.type = type_of_safetensors(type);
        if (described.type == nullptr) malformed("array " + in_quotes(described.name) + " has the unknown dtype " + in_quotes(type));
      } else if (key == "shape") {
        once(has_shape, "shape");
        for (const std::uint64_t extent : numbers()) {
          if (extent >> 63 != 0) malformed("an extent that is no int64");
          described.shape.push_back(static_cast<std::int64_t>(extent));
        }
      } else if (key == "data_offsets") {
        once(has_offsets, "data_offsets");
        const std::vector<std::uint64_t> offsets = numbers();
        if (offsets.size() != 2) malformed("data_offsets are two numbers");
        described.begin = offsets[0], described.end = offsets[1];
      } else {
        malformed("unknown key " + in_quotes(key));
      }
    });
    if (!(has_type && has_shape && has_offsets)) malformed("array " + in_quotes(described.name) + " lacks dtype, shape or data_offsets");
    arrays.push_back(std::move(described));
  }
};

/// Reads the header of a whole file in memory.
inline safetensors_header read_header(std::span<const std::byte> file, place where) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  if (file.size() < length_bytes) where.fail(file.empty() ? "empty" : "truncated: " + number(file.size()) + " bytes, where the length of the header alone takes 8");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const std::string_view rest(reinterpret_cast<const char*>(file.data()) + length_bytes, file.size() - length_bytes);
  if (length > most_header_bytes && length % 0x10000 == 0x4b50) where.fail("not a .safetensors file but a zip archive, as torch.save and numpy.savez write it");
  if (length > most_header_bytes) where.fail("not a .safetensors file: its first eight bytes say that the header has " + number(length) + " bytes, more than 100,000,000");
  if (length > rest.size()) where.fail("truncated within the header: " + number(length) + " bytes promised, " + number(rest.size()) + " there");
  if (!rest.substr(0, length).starts_with('{')) where.fail("not a .safetensors file: the header does not begin with '{'");

  header_parser parsed(rest.substr(0, length), where);
  safetensors_header header{std::move(parsed.arrays), std::move(parsed.metadata), length_bytes + length};
  const std::uint64_t data_bytes = file.size() - header.data;
  for (const described_array& a : header.arrays) {
    where.entry = a.name;
    const std::uint64_t expected = bytes_of_array(*a.type, a.shape, where);
    if (a.end < a.begin) where.fail("its data ends before it begins: " + number(a.begin) + ", " + number(a.end));
    if (a.end > data_bytes) where.fail("truncated: its data ends at byte " + number(a.end) + ", and the file has " + number(data_bytes) + " bytes of data");
    if (a.end - a.begin != expected)
      where.fail(number(a.end - a.begin) + " bytes of data where " + std::string(a.type->name) + " of shape " + shape_text(a.shape) + " has " + number(expected));
  }
  std::sort(header.arrays.begin(), header.arrays.end(), [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t reached = 0;
  for (const described_array& a : header.arrays) {
    where.entry = a.name;
    if (a.begin < reached) where.fail("its data overlaps that of the array before it");
    if (a.begin > reached) where.fail(number(a.begin - reached) + " bytes before its data belong to no array");
    reached = a.end;
    check_bools(a.type->dtype, file.subspan(header.data + a.begin, a.end - a.begin), where);
  }
  where.entry.clear();
  if (reached != data_bytes) where.fail(number(data_bytes - reached) + " bytes at the end belong to no array");
  return header;
}

/// The beginning of a file with these arrays: the length and the header. Spaces fill it, so that the data begins at a multiple of 64 bytes: then an array
/// whose size is such a multiple, as most are, is mapped to whole cache lines.
inline std::string header_text(std::span<const described_array> arrays, const text_map& metadata, place where) {
  std::string text = "{";
  const auto member = [&](std::string_view name) -> std::string& {
    if (text.size() > 1 && text.back() != '{') text += ',';
    return text.append(json_string(name, where)).append(":");
  };
  if (!metadata.empty()) {
    member(metadata_name) += '{';
    for (const auto& [key, value] : metadata) member(key) += json_string(value, where);
    text += '}';
  }
  for (const described_array& a : arrays) {
    where.entry = a.name;
    member(a.name).append("{\"dtype\":\"").append(a.type->safetensors).append("\",\"shape\":[");
    for (std::size_t i = 0; i < a.shape.size(); ++i) text.append(i ? "," : "").append(std::to_string(a.shape[i]));
    text.append("],\"data_offsets\":[").append(std::to_string(a.begin)).append(",").append(std::to_string(a.end)).append("]}");
  }
  text += '}';
  where.entry.clear();
  text.resize((length_bytes + text.size() + 63) / 64 * 64 - length_bytes, ' ');
  const std::uint64_t length = text.size();
  if (length > most_header_bytes) where.fail("the names take more than the 100,000,000 bytes that a header may have");
  return std::string(reinterpret_cast<const char*>(&length), length_bytes) + text;
}

}  // namespace tenure::interop::detail
