// SPDX-License-Identifier: BSL-1.0
// Files as .npy and .npz files are read: the place that an error names, and a file whose size is known.
// Errors: tenure::io_error, "tenure: load: <file>: <what>".
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tenure/core/error.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// Text of a file, as a message quotes it. A file may hold a name of 64 KB, and control characters: a zero byte would end the message, others
/// command a terminal.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 80;
  std::string shown = "'";
  for (const char c : text.substr(0, most)) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = code < 0x20 || code == 0x7f;
    if (is_control) shown.append("\\x").append(1, "0123456789abcdef"[code >> 4]).append(1, "0123456789abcdef"[code & 15]);
    else shown += c;
  }
  if (text.size() <= most) return shown + "'";
  return shown + "...' of " + std::to_string(text.size()) + " characters";
}

/// The file, and the array in it, that error messages name. fail() throws every error about a file.
struct place {
  std::string_view call;
  std::string file;
  std::string entry{};

  [[noreturn]] void fail(const std::string& what) const {
    std::string message = "tenure: ";
    message.append(call).append(": ").append(file).append(": ");
    if (!entry.empty()) message.append("array ").append(in_quotes(entry)).append(": ");
    throw io_error(message + what);
  }
  [[noreturn]] void fail(const std::string& what, std::errc reason) const {
    fail(what + ": " + std::make_error_code(reason).message());
  }
};

/// The place of a file. Throws if no file can have this path: the system would use only the part before a zero byte.
inline place place_of(std::string_view call, const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name.empty()) place{call, "''"}.fail("the path is empty");
  const std::size_t zero = name.find('\0');
  if (zero != std::string::npos) place{call, name.substr(0, zero)}.fail("a zero byte follows in the path, which no file name contains");
  return {call, name};
}

inline std::errc last_error() { return static_cast<std::errc>(errno); }

/// Fails if a file of `size` bytes has no `count` bytes at `offset`.
inline void check_range(std::uint64_t size, std::uint64_t offset, std::uint64_t count, const place& where) {
  const bool is_inside = offset <= size && count <= size - offset;
  if (!is_inside)
    where.fail("truncated: bytes " + std::to_string(offset) + " and the " + std::to_string(count) +
               " after it are not all in the file of " + std::to_string(size) + " bytes");
}

/// A regular file for reading. Its size is known, and a read beyond the end throws.
class input {
 public:
  input(const std::filesystem::path& path, place where) : where_(std::move(where)) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) where_.fail("no such file");
    if (error) where_.fail("cannot be opened: " + error.message());
    if (!std::filesystem::is_regular_file(status)) where_.fail("not a regular file");
    size_ = std::filesystem::file_size(path, error);
    stream_.open(path, std::ios::binary);
    if (error || !stream_) where_.fail("cannot be opened", last_error());
  }

  std::uint64_t size() const { return size_; }

  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t count) {
    check_range(size_, offset, count, where_);
    std::vector<std::byte> bytes(count);
    read(offset, bytes);
    return bytes;
  }
  void read(std::uint64_t offset, std::span<std::byte> to) {
    check_range(size_, offset, to.size(), where_);
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
    if (!stream_) where_.fail("reading failed at byte " + std::to_string(offset), last_error());
  }

 private:
  place where_;
  std::uint64_t size_ = 0;
  std::ifstream stream_;
};

/// A file whose bytes are in memory.
class memory_input {
 public:
  memory_input(std::span<const std::byte> bytes, place where) : where_(std::move(where)), bytes_(bytes) {}

  std::uint64_t size() const { return bytes_.size(); }

  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t count) {
    check_range(size(), offset, count, where_);
    const auto part = bytes_.subspan(offset, count);
    return {part.begin(), part.end()};
  }

 private:
  place where_;
  std::span<const std::byte> bytes_;
};

}  // namespace tenure::interop::detail
