// SPDX-License-Identifier: BSL-1.0
// The header of a .safetensors file: eight bytes with its length, then JSON, {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}. Source: the
// format in the README of huggingface/safetensors.
// Law: what is read has every name once, and arrays that cover the data without overlap and without a hole.
// The JSON has two levels, strings and natural numbers, so it is parsed here. A library for all of JSON is twenty thousand lines in a public header, keeps the
// last of two equal names, rounds large numbers to double, and follows a thousand nested brackets; each of these has to be refused.
// Errors: tenure::io_error, before any array is read. Cost: the names and shapes take up to some ten times the memory of
// the header, which has at most 100 MB.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/interop/file_types.hpp>

namespace TENURE_NAMESPACE::interop::detail {

using text_map = std::vector<std::pair<std::string, std::string>>;

/// An array as the header describes it. Its bytes are [begin, end) of the data.
struct described_array {
  std::string name;
  const file_type* type = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};
struct safetensors_header {
  std::vector<described_array> arrays;  // in the order of their bytes
  text_map metadata;
  std::uint64_t data = 0;  // where the data begins in the file
};

inline constexpr std::uint64_t length_bytes = 8, most_header_bytes = 100'000'000;
inline constexpr std::string_view metadata_name = "__metadata__";

/// The number of bytes of the UTF-8 character at the beginning of `text`, or 0 if there is none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  const auto length = static_cast<std::size_t>(std::countl_one(byte(0)));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code >= least[length] && code <= 0x10ffff && !is_surrogate ? length : 0;
}
inline void append_utf8(std::string& to, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  const auto put_rest = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | code >> 6), put_rest(0);
  if (code < 0x10000) return put(0xe0 | code >> 12), put_rest(6), put_rest(0);
  put(0xf0 | code >> 18), put_rest(12), put_rest(6), put_rest(0);
}

/// Parses the JSON of a header. Anything but the two levels of the format fails.
class header_parser {
 public:
  header_parser(std::string_view text, const place& where) : text_(text), where_(where) {
    bool has_metadata = false;
    each_member([&](std::string name) {
      if (name != metadata_name) return array(std::move(name));
      if (std::exchange(has_metadata, true)) malformed("__metadata__ appears twice");
      each_member([&](std::string key) { metadata.emplace_back(std::move(key), string()); });
    });
    skip();
    if (at_ != text_.size()) malformed("text after the object");
    require_once(arrays, [](const described_array& a) -> const std::string& { return a.name; }, "array ", " appears twice");
    require_once(metadata, [](const auto& pair) -> const std::string& { return pair.first; }, "__metadata__ has ", " twice");
  }

  std::vector<described_array> arrays;
  text_map metadata;

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    where_.fail("malformed header at character " + std::to_string(at_ + 1) + ": " + what);
  }

  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
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

  template <class List, class Name>
  void require_once(const List& list, Name name, const char* before, const char* after) const {
    std::vector<const std::string*> names;
    for (const auto& each : list) names.push_back(&name(each));
    std::sort(names.begin(), names.end(), [](auto a, auto b) { return *a < *b; });
    const auto twice = std::adjacent_find(names.begin(), names.end(), [](auto a, auto b) { return *a == *b; });
    if (twice != names.end()) malformed(before + in_quotes(**twice) + after);
  }
  /// Calls f(name) for each member of an object, behind its ':'. f parses the value.
  template <class F>
  void each_member(F f) {
    expect('{');
    if (accept('}')) return;
    do {
      std::string name = string();
      expect(':');
      f(std::move(name));
    } while (accept(','));
    expect('}');
  }

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

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> found;
    expect('[');
    if (accept(']')) return found;
    do found.push_back(number());
    while (accept(','));
    expect(']');
    return found;
  }
  /// A natural number. JSON has no leading zeros; a sign, a point or an exponent is no natural number.
  std::uint64_t number() {
    skip();
    std::uint64_t value = 0;
    const char *const first = text_.data() + at_, *const last = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc::result_out_of_range) malformed("a number beyond 64 bits");
    if (error != std::errc{}) malformed("expected a natural number");
    if (*first == '0' && end - first > 1) malformed("a number with a leading zero");
    if (end != last && std::string_view(".eE").find(*end) != std::string_view::npos) malformed("a number that is not a natural one");
    at_ += static_cast<std::size_t>(end - first);
    return value;
  }

  std::string string() {
    expect('"');
    std::string value;
    for (;;) {
      const std::size_t length = utf8_length(text_.substr(at_));
      if (at_ == text_.size()) malformed("a string is never closed");
      if (length == 0) malformed("a string is not UTF-8");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) malformed("a control character in a string");
      const std::string_view character = text_.substr(at_, length);
      at_ += length;
      if (c == '"') return value;
      if (c == '\\') append_utf8(value, escape());
      else value += character;
    }
  }
  /// The character that the text behind a backslash names.
  std::uint32_t escape() {
    constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t known = names.find(c);
    if (c != 'u' && known == std::string_view::npos) malformed("an unknown escape");
    ++at_;
    if (c != 'u') return static_cast<unsigned char>(meant[known]);
    const std::uint32_t code = hexadecimal();
    const bool is_high = code >= 0xd800 && code < 0xdc00, is_low = code >= 0xdc00 && code < 0xe000;
    if (!is_high && !is_low) return code;
    const bool has_second = is_high && text_.substr(at_).starts_with("\\u");
    if (has_second) at_ += 2;
    const std::uint32_t second = has_second ? hexadecimal() : 0;
    if (second < 0xdc00 || second >= 0xe000) malformed("half of a surrogate pair");
    return 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
  }
  std::uint32_t hexadecimal() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || end != digits.data() + 4) malformed("\\u without four hexadecimal digits");
    at_ += 4;
    return value;
  }

  std::string_view text_;
  const place& where_;
  std::size_t at_ = 0;
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
  if (!rest.substr(0, static_cast<std::size_t>(length)).starts_with('{')) where.fail("not a .safetensors file: the header does not begin with '{'");

  header_parser parsed(rest.substr(0, static_cast<std::size_t>(length)), where);
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
    check_bools(a.type->dtype, file.subspan(static_cast<std::size_t>(header.data + a.begin), static_cast<std::size_t>(a.end - a.begin)), where);
  }
  where.entry.clear();
  if (reached != data_bytes) where.fail(number(data_bytes - reached) + " bytes at the end belong to no array");
  return header;
}

/// A string of JSON. Fails if it is not UTF-8.
inline std::string json_string(std::string_view text, const place& where) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) where.fail("a name that is not UTF-8");
    const auto code = static_cast<unsigned char>(text[0]);
    if (code < 0x20) quoted.append("\\u00").append(1, "0123456789abcdef"[code >> 4]).append(1, "0123456789abcdef"[code & 15]);
    else quoted.append(code == '"' || code == '\\' ? "\\" : "").append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return quoted + '"';
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
