// SPDX-License-Identifier: BSL-1.0
// read_csv: a table of numbers from a comma-separated file, row by row in one flat vector; read_digits: the digits.
// Law: every cell is a finite float, and every row has as many columns as the first.
// Errors: csv_error, "path:line: what", with the column and the offending text; lines and columns count from 1.
#pragma once

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace examples {

struct csv_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct table {
  std::vector<float> cells;  // row r, column c at r * columns + c
  std::size_t rows = 0, columns = 0;
};

enum class csv_header { none, first_line };

/// The digits: each row has 8 x 8 pixels from 0 to 16, and a label.
struct digits {
  std::vector<float> pixels;  // rows x 64
  std::vector<std::int32_t> labels;
  std::size_t rows = 0;
};

namespace detail {

/// The number that is the whole text. invalid_argument: it is none; result_out_of_range: float cannot hold it.
inline std::errc read_number(std::string_view text, float& value) {
#if defined(__cpp_lib_to_chars)
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return stop == text.data() + text.size() ? error : std::errc::invalid_argument;
#else  // libc++ 19 has no from_chars for float
  const std::string copy(text);
  char* stop = nullptr;
  value = std::strtof(copy.c_str(), &stop);
  const bool is_whole = !copy.empty() && stop == copy.c_str() + copy.size() && copy.find_first_not_of("+-.0123456789eE") == std::string::npos && copy[0] != '+';
  return is_whole ? std::errc{} : std::errc::invalid_argument;
#endif
}

[[noreturn]] inline void csv_fail(const std::string& path, std::size_t line, const std::string& what) {
  throw csv_error(path + ":" + std::to_string(line) + ": " + what);
}

inline std::string cell_text(std::size_t column, std::string_view cell) {
  const bool is_long = cell.size() > 40;
  return "column " + std::to_string(column) + ": '" + std::string(cell.substr(0, 40)) + (is_long ? "...'" : "'");
}

inline std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw csv_error(path.string() + ": cannot be opened: " +
                    std::generic_category().message(file ? static_cast<int>(std::errc::is_a_directory) : errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the text before the next `separator` and removes it from the front of `rest`.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view front = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return front;
}

inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace detail

/// Reads the whole file. It accepts LF and CRLF line ends, a byte-order mark, and blank lines at the end.
inline table read_csv(const std::filesystem::path& path, csv_header header = csv_header::none) {
  const std::string text = detail::whole_file(path), name = path.string();
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  const std::size_t end = rest.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) detail::csv_fail(name, 1, "the file is empty");
  rest = rest.substr(0, end + 1);

  table out;
  std::size_t line = 0;
  if (header == csv_header::first_line) detail::take_until(rest, '\n'), ++line;
  if (rest.empty()) detail::csv_fail(name, line + 1, "no rows after the header");
  while (!rest.empty()) {
    ++line;
    std::string_view row = detail::trim(detail::take_until(rest, '\n'));
    if (row.empty()) detail::csv_fail(name, line, "a blank line between rows");
    std::size_t columns = 0;
    for (bool more = true; more;) {
      more = row.find(',') != std::string_view::npos;
      const std::string_view cell = detail::trim(detail::take_until(row, ','));
      ++columns;
      float value = 0;
      const std::errc error = detail::read_number(cell, value);
      if (error == std::errc::invalid_argument) detail::csv_fail(name, line, detail::cell_text(columns, cell) + " is not a number");
      const bool is_float = error == std::errc{} && std::isfinite(value);
      if (!is_float) detail::csv_fail(name, line, detail::cell_text(columns, cell) + " is not a finite float");
      out.cells.push_back(value);
    }
    if (out.rows == 0) out.columns = columns;
    if (columns != out.columns)
      detail::csv_fail(name, line,
                       std::to_string(columns) + " columns where the rows before have " + std::to_string(out.columns));
    ++out.rows;
  }
  return out;
}

/// Reads rows of 64 pixels and a label, as in examples/data/digits.csv.
inline digits read_digits(const std::filesystem::path& path) {
  constexpr std::size_t pixels = 64;
  const table all = read_csv(path);
  const std::string name = path.string();
  if (all.columns != pixels + 1)
    detail::csv_fail(name, 1, std::to_string(all.columns) + " columns where a digit has 64 pixels and a label");
  digits out;
  out.rows = all.rows;
  for (std::size_t row = 0; row < all.rows; ++row) {
    const float* cells = all.cells.data() + row * all.columns;
    const auto refuse = [&](std::size_t column, const char* what) {
      char number[32];
      const auto end = std::to_chars(number, number + sizeof number, cells[column]).ptr;
      detail::csv_fail(name, row + 1, detail::cell_text(column + 1, {number, end}) + what);
    };
    for (std::size_t i = 0; i < pixels; ++i) {
      const bool is_pixel = cells[i] >= 0 && cells[i] <= 16;
      if (!is_pixel) refuse(i, " is not a pixel from 0 to 16");
      out.pixels.push_back(cells[i]);
    }
    const float label = cells[pixels];
    const bool is_label = label >= 0 && label <= 9 && label == std::floor(label);
    if (!is_label) refuse(pixels, " is not a label from 0 to 9");
    out.labels.push_back(static_cast<std::int32_t>(label));
  }
  return out;
}

}  // namespace examples
