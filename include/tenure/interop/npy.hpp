// SPDX-License-Identifier: BSL-1.0
// .npy files: one array with a header, byte for byte as numpy.save writes it. It reads versions 1.0 to 3.0 of numpy.lib.format.
// Law: read_npy(p) after write_npy(p, a) gives the dtype, shape and bytes of a.
// Errors: tenure::io_error, "tenure: load: <file>: <what>". If a write fails, an existing file is unchanged.
// Cost: one pass over the bytes. A size in the file is compared with the length of the file before memory is allocated for it.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tenure/core/dtype.hpp>
#include <tenure/interop/replacement.hpp>

namespace TENURE_NAMESPACE::interop {

static_assert(std::endian::native == std::endian::little,
              "tenure: .npy and .npz are written for little-endian machines");

/// An array to write. It refers to memory of the caller, which is dense and row-major. dtype is "<f4", "<f8", "<i4", "<i8", "|b1", or "<V2" for
/// bfloat16. NumPy has no bfloat16 and reads two bytes; a[...].view(ml_dtypes.bfloat16) gives them their type.
struct array_view {
  std::string_view name;
  std::string_view dtype;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// An array that was read. It is always dense, row-major and little-endian, and its number of bytes follows from dtype and shape.
struct array {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

namespace detail {

// ---- Element types and shapes -------------------------------------------------------------------------------------

/// NumPy's name of an element type in a file.
constexpr std::string_view descriptor_of(tenure::dtype type) { return tenure::detail::row_of(type).npy; }

/// The size of one element in bytes, or 0 for a dtype that a tensor cannot hold.
constexpr std::uint64_t element_bytes(std::string_view dtype) {
  for (const tenure::detail::element_row& row : tenure::detail::element_rows)
    if (row.npy == dtype) return static_cast<std::uint64_t>(row.bytes);
  return 0;
}

/// A shape as Python prints a tuple: (), (3,), (3, 4).
inline std::string tuple_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text.append(i ? ", " : "").append(std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}
/// A shape of a file, as a message prints it. A header may hold thousands of axes.
inline std::string shape_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t most = 16;
  if (shape.size() <= most) return tuple_text(shape);
  std::string text = tuple_text(shape.first(most));
  text.back() = ',';
  return text + " ...) of " + std::to_string(shape.size()) + " axes";
}

/// The number of elements of an array. Fails on a negative extent, and if there are more than `most`.
inline std::uint64_t dense_elements(std::span<const std::int64_t> shape, std::uint64_t most, const place& where) {
  std::uint64_t elements = 1;
  bool empty = false, huge = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) where.fail("shape " + shape_text(shape) + " has a negative extent");
    if (extent == 0) empty = true;
    else if (static_cast<std::uint64_t>(extent) > most / elements) huge = true;
    else elements *= static_cast<std::uint64_t>(extent);
  }
  if (empty) return 0;
  if (huge) where.fail("shape " + shape_text(shape) + " is larger than any memory");
  return elements;
}

/// The size of a dense array in bytes. Fails on a dtype that a tensor cannot hold, on a negative extent, and if the product
/// overflows int64.
inline std::uint64_t dense_bytes(std::string_view dtype, std::span<const std::int64_t> shape, const place& where) {
  const std::uint64_t bytes = element_bytes(dtype);
  if (bytes == 0) {
    const bool big_endian = dtype.starts_with('>');
    where.fail("dtype " + in_quotes(dtype) + " is " + (big_endian ? "big-endian" : "not supported") +
               "; float32, float64, bfloat16, float16, int32, int64 (little-endian), int8, uint8 and bool are");
  }
  return bytes * dense_elements(shape, std::numeric_limits<std::int64_t>::max() / bytes, where);
}

/// Fails if an element of a bool array is neither 0 nor 1: such a C++ bool is undefined behaviour.
inline void check_bools(std::string_view dtype, std::span<const std::byte> bytes, const place& where) {
  if (dtype != "|b1") return;
  for (const std::byte b : bytes)
    if (b > std::byte{1}) where.fail("a bool of value " + std::to_string(static_cast<int>(b)) + ", neither 0 nor 1");
}

// ---- The header ---------------------------------------------------------------------------------------------------

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// The part of the file before the data, with the spaces that NumPy puts there: they leave room for a first extent of 21 digits. Then
/// follow 1 to 64 bytes, the last one a newline, so that the data begins at a multiple of 64.
inline std::string npy_header(const array_view& a, const place& where) {
  const std::uint64_t expected = dense_bytes(a.dtype, a.shape, where);
  if (a.bytes.size() != expected)
    where.fail(std::to_string(a.bytes.size()) + " bytes given where " + std::string(a.dtype) + " of shape " +
               shape_text(a.shape) + " has " + std::to_string(expected));
  std::string text =
      "{'descr': '" + std::string(a.dtype) + "', 'fortran_order': False, 'shape': " + tuple_text(a.shape) + ", }";
  if (!a.shape.empty()) text.append(21 - std::to_string(a.shape[0]).size(), ' ');
  const auto padded = [&](std::size_t prefix) { return (prefix + text.size() + 1) / 64 * 64 + 64 - prefix; };
  const bool is_long = padded(10) > 0xffff;
  text.resize(padded(is_long ? 12 : 10), ' ');
  text.back() = '\n';

  std::string header(npy_magic);
  header += is_long ? '\2' : '\1';
  header += '\0';
  for (int i = 0; i < (is_long ? 4 : 2); ++i) header += static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

/// Parses the Python dictionary in the header: its three keys in any order. Anything else fails.
class npy_dictionary {
 public:
  npy_dictionary(std::string_view text, const place& where) : text_(text), where_(where) {
    bool has_descr = false, has_order = false, has_shape = false;
    const auto once = [&](bool& seen, std::string_view key) {
      if (std::exchange(seen, true)) malformed("key " + in_quotes(key) + " appears twice");
    };
    expect('{');
    while (!accept('}')) {
      const std::string_view key = word();
      expect(':');
      if (key == "descr") once(has_descr, key), dtype = description();
      else if (key == "fortran_order") once(has_order, key), fortran_order = boolean();
      else if (key == "shape") once(has_shape, key), shape = tuple();
      else malformed("unknown key " + in_quotes(key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) malformed("text after the dictionary");
    if (!(has_descr && has_order && has_shape)) malformed("descr, fortran_order and shape must all be there");
  }

  std::string_view dtype;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    where_.fail("malformed .npy header at character " + std::to_string(at_ + 1) + ": " + what);
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) malformed(std::string("expected '") + c + "'");
  }
  bool accept(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view word() {
    const char quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    if (quote == '\0') malformed("expected a quoted word");
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) malformed("a quote is never closed");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  /// The dtype. Bytes without a type, such as those of bfloat16, have no order, so "|V2" is "<V2".
  std::string_view description() {
    skip();
    const bool is_record = at_ < text_.size() && text_[at_] == '[';
    if (is_record) where_.fail("a structured dtype; float32, float64, bfloat16, float16, int32, int64, int8, uint8 and bool are supported");
    const std::string_view found = word();
    return found == "|V2" ? std::string_view("<V2") : found;
  }
  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    malformed("expected True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    bool has_comma = true;
    expect('(');
    while (!accept(')')) {
      if (!has_comma) malformed("expected ',' or ')'");
      skip();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error == std::errc::result_out_of_range) malformed("an extent that is no int64");
      if (error != std::errc{}) malformed("expected an extent");
      at_ = static_cast<std::size_t>(end - text_.data());
      extents.push_back(extent);
      has_comma = accept(',');
    }
    if (extents.size() == 1 && !has_comma) malformed("a tuple of one needs a comma");
    return extents;
  }

  std::string_view text_;
  const place& where_;
  std::size_t at_ = 0;
};

/// Turns the bytes of a whole .npy file into its array. The data is moved to the front of the same memory.
inline array npy_array(std::vector<std::byte> file, std::string name, const place& where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto byte_at = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  const bool is_npy = text.substr(0, npy_magic.size()) == npy_magic;
  if (text.empty()) where.fail("empty");
  if (!is_npy)
    where.fail(text.starts_with("PK") ? "not an .npy file but a zip archive (.npz?)"
                                      : "not an .npy file: wrong magic bytes");
  if (file.size() < 10) where.fail("truncated within the .npy header");
  const std::size_t major = byte_at(6);
  if (major < 1 || major > 3) where.fail("version " + std::to_string(major) + " of .npy; 1, 2 and 3 are supported");
  const std::size_t prefix = major == 1 ? 10 : 12;
  if (file.size() < prefix) where.fail("truncated within the .npy header");
  std::size_t length = byte_at(8) | byte_at(9) << 8;
  if (major > 1) length |= byte_at(10) << 16 | byte_at(11) << 24;
  if (length > file.size() - prefix)
    where.fail("truncated within the .npy header: " + std::to_string(length) + " bytes promised, " +
               std::to_string(file.size() - prefix) + " there");

  npy_dictionary header(text.substr(prefix, length), where);
  const std::uint64_t expected = dense_bytes(header.dtype, header.shape, where);
  const std::uint64_t given = file.size() - prefix - length;
  if (given != expected)
    where.fail((given < expected ? "truncated: " : "too long: ") + std::to_string(given) + " bytes of data where " +
               std::string(header.dtype) + " of shape " + shape_text(header.shape) + " has " +
               std::to_string(expected));
  if (header.fortran_order)
    where.fail("shape " + shape_text(header.shape) + " is in Fortran order; save numpy.ascontiguousarray(x)");

  array a{std::move(name), std::string(header.dtype), std::move(header.shape), {}};
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(prefix + length));
  a.bytes = std::move(file);
  check_bools(a.dtype, a.bytes, where);
  return a;
}

}  // namespace detail

/// Writes one array. Its name is not stored. Throws io_error; then an existing file is unchanged.
inline void write_npy(const std::filesystem::path& path, const array_view& a) {
  const detail::place where = detail::place_of("save", path);
  const std::string header = detail::npy_header(a, where);
  detail::replacement file(path, where);
  file.write(std::as_bytes(std::span(header)));
  file.write(a.bytes);
  file.commit();
}

/// Reads one array. Its name is empty. Throws io_error.
inline array read_npy(const std::filesystem::path& path) {
  const detail::place where = detail::place_of("load", path);
  detail::input file(path, where);
  return detail::npy_array(file.read(0, file.size()), {}, where);
}

}  // namespace tenure::interop

#include <tenure/core/letters/restore.hpp>
