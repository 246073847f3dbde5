// SPDX-License-Identifier: BSL-1.0
// The JSON of .safetensors files: the header of a file, and the index of a model in several files. Both are objects of a known depth, of strings and natural numbers,
// so they are read here. A library for all of JSON is twenty thousand lines in a public header, keeps the last of two equal names, rounds large numbers to double, and
// follows a thousand nested brackets; each of these has to be refused.
// Errors: tenure::io_error, "malformed <what> at character <n>: <why>".
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/interop/file.hpp>

namespace TENURE_NAMESPACE::interop::detail {

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

using text_map = std::vector<std::pair<std::string, std::string>>;

/// The keys of a text_map, or the names of arrays.
inline std::string_view name_of(const text_map::value_type& pair) { return pair.first; }
template <class List>
std::vector<std::string_view> names_of(const List& list) {
  std::vector<std::string_view> names;
  for (const auto& each : list) names.push_back(name_of(each));
  return names;
}

/// Reads the parts of JSON that its derived classes ask for.
class json_reader {
 protected:
  json_reader(const char* what, std::string_view text, const place& where) : what_(what), text_(text), where_(where) {}

  [[noreturn]] void malformed(const std::string& what) const {
    where_.fail(std::string("malformed ") + what_ + " at character " + std::to_string(at_ + 1) + ": " + what);
  }

  void expect_end() {
    skip();
    if (at_ != text_.size()) malformed("text after the object");
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

  /// Fails if a name is in the list twice.
  void require_once(std::vector<std::string_view> names, const char* before, const char* after) const {
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) malformed(before + in_quotes(*twice) + after);
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

  /// A value of any kind, which is not kept.
  void skip_value(int depth = 16) {
    if (depth == 0) malformed("more than 16 nested brackets");
    skip();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '"') return static_cast<void>(string());
    if (first == '{') return each_member([&](const std::string&) { skip_value(depth - 1); });
    if (accept('[')) {
      if (accept(']')) return;
      do skip_value(depth - 1);
      while (accept(','));
      return expect(']');
    }
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_), text_.size());  // a number, true, false or null
    if (end == at_) malformed("expected a value");
    at_ = end;
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

  const char* what_;
  std::string_view text_;
  const place& where_;
  std::size_t at_ = 0;
};

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

}  // namespace tenure::interop::detail
