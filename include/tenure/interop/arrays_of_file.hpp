// SPDX-License-Identifier: BSL-1.0
// A file with arrays in either format, .npz or .safetensors, read into memory. An index of several .safetensors files stands for all of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tenure/core/not_copied.hpp>
#include <tenure/interop/npz.hpp>
#include <tenure/interop/safetensors_parts.hpp>

namespace TENURE_NAMESPACE::interop::detail {

inline bool has_safetensors_name(const std::string& path) { return path.ends_with(".safetensors"); }

class arrays_of_file : tenure::detail::not_copied {
 public:
  /// Reads a file. Its first bytes tell the format; where they tell nothing, its name does.
  explicit arrays_of_file(const std::string& path) {
    const place where = place_of("load", path);
    if (is_safetensors(path, where)) {
      parts_ = open_parts(path, where, [](const std::string& name, const place& of_part) {
        input file(name, of_part);
        const auto size = file.size();
        auto memory = std::make_unique_for_overwrite<std::byte[]>(size);  // a std::vector would write zeros first
        const std::span bytes(memory.get(), size);
        file.read(0, bytes);
        return std::pair<std::unique_ptr<std::byte[]>, std::span<const std::byte>>(std::move(memory), bytes);
      });
      view_parts();
    } else {
      input file(path, where);
      view_npz(read_archive(file, where));
    }
  }
  /// Refers to a .safetensors file in memory, and copies the arrays of a .npz file.
  explicit arrays_of_file(std::span<const std::byte> file) {
    if (has_header(file)) {
      parts_.push_back({nullptr, file, read_header(file, {"load", "memory"})});
      view_parts();
    } else {
      view_npz(read_npz(file));
    }
  }

  std::span<const array_view> views() const { return views_; }
  /// Whether a file with arrays that no parameter takes is refused, unless load_options say otherwise.
  bool is_strict() const { return is_strict_; }

 private:
  static bool is_safetensors(const std::string& path, const place& where) {
    if (is_index(path)) return true;
    input file(path, where);
    const std::vector<std::byte> start = file.read(0, std::min<std::uint64_t>(file.size(), length_bytes + 1));
    return has_header(start) || (has_safetensors_name(path) && !is_zip(start));
  }
  static bool is_zip(std::span<const std::byte> start) { return start.size() > 1 && start[0] == std::byte{'P'} && start[1] == std::byte{'K'}; }
  static bool has_header(std::span<const std::byte> start) { return start.size() > length_bytes && start[length_bytes] == std::byte{'{'} && !is_zip(start); }
  void view_parts() {
    views_ = views_of(parts_);
    is_strict_ = true;
  }
  void view_npz(std::vector<array> arrays) {
    arrays_ = std::move(arrays);
    for (const array& a : arrays_) views_.push_back({a.name, a.dtype, a.shape, a.bytes});
  }

  std::vector<array> arrays_;                                            // of a .npz file
  std::vector<safetensors_part<std::unique_ptr<std::byte[]>>> parts_;  // of a .safetensors file, or of all that an index names
  std::vector<array_view> views_;
  bool is_strict_ = false;
};

}  // namespace tenure::interop::detail
