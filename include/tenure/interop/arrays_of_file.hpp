// SPDX-License-Identifier: BSL-1.0
// A file with arrays in either format, .npz or .safetensors, read into memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tenure/core/not_copied.hpp>
#include <tenure/interop/npz.hpp>
#include <tenure/interop/safetensors_file.hpp>

namespace TENURE_NAMESPACE::interop::detail {

inline bool has_safetensors_name(const std::string& path) { return path.ends_with(".safetensors"); }

class arrays_of_file : tenure::detail::not_copied {
 public:
  /// Reads a file. Its first bytes tell the format; where they tell nothing, its name does.
  explicit arrays_of_file(const std::string& path) {
    const place where = place_of("load", path);
    input file(path, where);
    const std::vector<std::byte> start = file.read(0, std::min<std::uint64_t>(file.size(), length_bytes + 1));
    if (is_safetensors(start, path)) {
      const auto size = static_cast<std::size_t>(file.size());
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);  // a std::vector would write zeros first
      file.read(0, std::span(bytes_.get(), size));
      view_safetensors(std::span(bytes_.get(), size), where);
    } else {
      view_npz(read_archive(file, where));
    }
  }
  /// Refers to a .safetensors file in memory, and copies the arrays of a .npz file.
  explicit arrays_of_file(std::span<const std::byte> file) {
    if (is_safetensors(file, "")) view_safetensors(file, {"load", "memory"});
    else view_npz(read_npz(file));
  }

  std::span<const array_view> views() const { return views_; }
  /// Whether a file with arrays that no parameter takes is refused, unless load_options say otherwise.
  bool is_strict() const { return is_strict_; }

 private:
  static bool is_safetensors(std::span<const std::byte> start, const std::string& path) {
    const bool is_zip = start.size() > 1 && start[0] == std::byte{'P'} && start[1] == std::byte{'K'};
    const bool has_header = start.size() > length_bytes && start[length_bytes] == std::byte{'{'};
    return !is_zip && (has_header || has_safetensors_name(path));
  }
  void view_safetensors(std::span<const std::byte> file, const place& where) {
    header_ = read_header(file, where);
    views_ = views_of(header_, file);
    is_strict_ = true;
  }
  void view_npz(std::vector<array> arrays) {
    arrays_ = std::move(arrays);
    for (const array& a : arrays_) views_.push_back({a.name, a.dtype, a.shape, a.bytes});
  }

  std::vector<array> arrays_;            // of a .npz file
  std::unique_ptr<std::byte[]> bytes_;   // of a .safetensors file
  safetensors_header header_;
  std::vector<array_view> views_;
  bool is_strict_ = false;
};

}  // namespace tenure::interop::detail
