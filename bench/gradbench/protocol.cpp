// SPDX-License-Identifier: BSL-1.0
#include "protocol.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace gradbench {

using nlohmann::json;

struct input::document {
  json value;
};

namespace {

void append(lists& to, const json& value, std::size_t depth) {
  if (value.is_array()) {
    if (to.extents.size() == depth) to.extents.push_back(static_cast<std::int64_t>(value.size()));
    for (const json& part : value) append(to, part, depth + 1);
  } else {
    to.values.push_back(value.is_boolean() ? value.get<bool>() : value.get<double>());
  }
}

json json_of(const lists& from, std::size_t depth, std::size_t& at) {
  if (depth == from.extents.size()) {
    const double v = from.values.at(at++);
    return from.of_integers ? json(static_cast<std::int64_t>(v)) : json(v);
  }
  json made = json::array();
  for (std::int64_t i = 0; i < from.extents[depth]; ++i) made.push_back(json_of(from, depth + 1, at));
  return made;
}

json json_of(const output& from) {
  json made;
  for (const auto& [name, values] : from) {
    std::size_t at = 0;
    json part = json_of(values, 0, at);
    if (name.empty()) return part;
    made[json::json_pointer(name)] = std::move(part);
  }
  return made;
}

}  // namespace

input::input(const char* file) : json_(std::make_unique<document>()) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(std::string("cannot read ") + file);
  json_->value = json::parse(stream);
}
input::~input() = default;

lists input::at(const char* path) const {
  lists made;
  append(made, json_->value.at(json::json_pointer(path)), 0);
  return made;
}
bool input::has(const char* path) const { return json_->value.contains(json::json_pointer(path)); }

void measure(const input& in, const std::function<void()>& compute, const std::function<output()>& result) {
  using clock = std::chrono::steady_clock;
  const std::int64_t runs = in.has("/min_runs") ? in.integer("/min_runs") : 1;
  const double seconds = in.has("/min_seconds") ? in.number("/min_seconds") : 0;
  std::vector<std::int64_t> times;
  double elapsed = 0;
  while (static_cast<std::int64_t>(times.size()) < runs || elapsed < seconds) {
    const auto start = clock::now();
    compute();
    times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count());
    elapsed += 1e-9 * static_cast<double>(times.back());
  }
  std::cout << json_of(result()).dump() << '\n';
  for (const std::int64_t t : times) std::cout << json{{"name", "evaluate"}, {"nanoseconds", t}}.dump() << '\n';
}

int run(int argc, char** argv, std::initializer_list<std::pair<const char*, function>> functions) {
  const auto fail = [&](const std::string& what) {
    std::cerr << argv[0] << ": " << what << '\n';
    return 1;
  };
  if (argc != 3) return fail("needs FILE FUNCTION");
  try {
    for (const auto& [name, f] : functions)
      if (std::string_view(argv[2]) == name) {
        f(input(argv[1]));
        return 0;
      }
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  return fail(std::string("has no function ") + argv[2]);
}

void require_agreement(const std::vector<double>& found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double a = found[i], b = expected[i];
    if (!(std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b))))
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(a) + ", and the reference backend has " + std::to_string(b));
  }
}

}  // namespace gradbench
