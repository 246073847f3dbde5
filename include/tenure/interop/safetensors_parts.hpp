// SPDX-License-Identifier: BSL-1.0
// A model in one .safetensors file or in several: "model.safetensors.index.json" says in which file each array is, {"weight_map": {"w": "model-00001-of-00002.safetensors",
// ...}}. Law: the arrays of the files are those of the index, each once. The files are in the folder of the index.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/interop/safetensors_file.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// Parses an index. "metadata", and keys that other programs add, are not read.
class index_parser : json_reader {
 public:
  index_parser(std::string_view text, const place& where) : json_reader("index", text, where) {
    bool has_map = false;
    each_member([&](const std::string& key) {
      if (key != "weight_map") return skip_value();
      if (std::exchange(has_map, true)) malformed("weight_map appears twice");
      each_member([&](std::string name) {
        std::string file = string();
        const bool is_here = !file.empty() && file.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos && file != "." && file != "..";
        if (!is_here) malformed(in_quotes(file) + " is not the name of a file in the folder of the index");
        file_of.emplace_back(std::move(name), std::move(file));
      });
    });
    expect_end();
    if (!has_map) malformed("it has no weight_map");
    require_once(names_of(file_of), "array ", " appears twice");
  }

  text_map file_of;  // the arrays and their files
};

/// One file: its memory, which Holder keeps, and what is in it.
template <class Holder>
struct safetensors_part {
  Holder memory;
  std::span<const std::byte> bytes;
  safetensors_header header;
};

inline bool is_index(const std::string& path) { return path.ends_with(".index.json"); }

/// The views of the arrays of all files.
template <class Holder>
std::vector<array_view> views_of(const std::vector<safetensors_part<Holder>>& parts) {
  std::vector<array_view> views;
  for (const auto& part : parts)
    for (const array_view& view : views_of(part.header, part.bytes)) views.push_back(view);
  return views;
}

/// Opens the file, or all files of an index. open(path, place) gives the memory of a file and its bytes, as a std::pair.
template <class Open>
auto open_parts(const std::string& path, const place& where, Open open) {
  using holder = typename decltype(open(path, where))::first_type;
  std::vector<safetensors_part<holder>> parts;
  const auto add = [&](const std::string& name, const place& of_part) {
    auto [memory, bytes] = open(name, of_part);
    parts.push_back({std::move(memory), bytes, read_header(bytes, of_part)});
  };
  if (!is_index(path)) {
    add(path, where);
    return parts;
  }
  input file(path, where);
  if (file.size() > most_header_bytes) where.fail("an index of more than 100,000,000 bytes");
  const std::vector<std::byte> text = file.read(0, file.size());
  const index_parser index(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()), where);
  std::map<std::string_view, std::string_view> file_of;  // what the parts still lack
  std::map<std::string_view, bool> files;
  for (const auto& [array, name] : index.file_of) file_of[array] = name, files[name] = true;
  for (const auto& [name, is_named] : files) {
    place of_part = place_of(where.call, std::filesystem::path(path).parent_path() / name);
    add(of_part.file, of_part);
    for (const described_array& a : parts.back().header.arrays) {
      const auto listed = file_of.find(a.name);
      of_part.entry = a.name;
      if (listed == file_of.end() || listed->second != name) of_part.fail("the index does not have it in this file");
      file_of.erase(listed);
    }
  }
  if (!file_of.empty()) {
    place of_array = where;
    of_array.entry = file_of.begin()->first;
    of_array.fail("is not in " + in_quotes(file_of.begin()->second) + ", where the index has it");
  }
  return parts;
}

}  // namespace tenure::interop::detail
