// SPDX-License-Identifier: BSL-1.0
// The protocol of GradBench's C++ tools: a program is called with FILE FUNCTION. FILE has the input as JSON. The program prints the result as
// JSON in one line, and then a line for each time that it was computed. min_runs and min_seconds in the input say how often that is.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradbench {

/// Nested lists of JSON: their extents, and the numbers in row-major order.
struct lists {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  bool of_integers = false;
};

/// The input. A path has the names on the way, as in "/data/points"; the empty path is the whole input.
class input {
 public:
  explicit input(const char* file);
  ~input();

  lists at(const char* path) const;
  double number(const char* path) const { return at(path).values.at(0); }
  std::int64_t integer(const char* path) const { return static_cast<std::int64_t>(number(path)); }
  bool has(const char* path) const;

 private:
  struct document;
  std::unique_ptr<document> json_;
};

/// The result: an array, or an object of named arrays.
using output = std::vector<std::pair<std::string, lists>>;
/// Computes as often as the input asks for, and prints the result and the times.
void measure(const input& in, const std::function<void()>& compute, const std::function<output()>& result);

using function = void (*)(const input&);
/// Calls the function that the command line names.
int run(int argc, char** argv, std::initializer_list<std::pair<const char*, function>> functions);

/// Throws where the numbers differ by more than rounding errors.
void require_agreement(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace gradbench
