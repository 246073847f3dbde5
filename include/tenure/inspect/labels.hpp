// SPDX-License-Identifier: BSL-1.0
// The texts of a picture of a plan: names, amounts and times, as both drawings write them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/inspect/picture.hpp>

namespace TENURE_NAMESPACE::detail {

/// Names on one label: the members of a model are "model.w1, b1", the parts of an array are "rule[0, 1]". All have the same `view`.
struct name_group {
  std::string label, view;
  name_list names;
};
inline std::vector<name_group> grouped(const std::vector<card_read>& reads) {
  struct open_group {
    std::string base;
    name_group group;
  };
  std::vector<open_group> open;
  for (const card_read& r : reads) {
    if (r.from >= 0) continue;
    const std::size_t cut = r.name.find_last_of(".[");
    const bool is_part = cut != std::string::npos;
    const std::string base = is_part ? r.name.substr(0, cut + 1) : r.name, rest = is_part ? r.name.substr(cut + 1) : "";
    const bool closes = !rest.empty() && rest.back() == ']';
    const auto same = std::find_if(open.begin(), open.end(), [&](const open_group& o) { return o.base == base && o.group.view == r.view; });
    if (same == open.end()) {
      open.push_back({base, {r.name, r.view, {r.name}}});
    } else {
      std::string& label = same->group.label;
      if (closes) label.pop_back();
      label += ", " + rest;
      same->group.names.push_back(r.name);
    }
  }
  std::vector<name_group> groups;
  for (open_group& o : open) groups.push_back(std::move(o.group));
  return groups;
}
inline std::vector<name_group> grouped(const name_list& results) {
  std::vector<card_read> as_reads;
  for (const std::string& r : results) as_reads.push_back({.name = r, .shape = "", .view = ""});
  return grouped(as_reads);
}

/// The label of an arrow: the values that go from one card to another, as "[32,96] transposed", "3 numbers".
inline name_list values_between(const card& to, int from) {
  struct value {
    std::string text;
    int count;
  };
  std::vector<value> values;
  for (const card_read& r : to.reads) {
    if (r.from != from) continue;
    const bool is_number = r.shape.ends_with("[]");
    const std::string text = is_number ? "number" : r.shape.substr(r.shape.find('[')) + (r.view.empty() ? "" : " " + r.view);
    const auto same = std::find_if(values.begin(), values.end(), [&](const value& v) { return v.text == text; });
    if (same == values.end()) values.push_back({text, 1});
    else ++same->count;
  }
  name_list texts;
  for (const value& v : values) {
    std::string several = std::to_string(v.count);
    several += v.text == "number" ? " numbers" : " × " + v.text;
    texts.push_back(v.count == 1 ? v.text : several);
  }
  return texts;
}

/// "1.25 M", "340": a number with a unit's prefix, at least three digits of it.
inline std::string with_prefix(double x, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
  int p = 0;
  for (; x >= 1000 && p < 4; ++p) x /= 1000;
  char text[48];
  std::snprintf(text, sizeof text, p == 0 || x >= 100 ? "%.0f %s%s" : x >= 10 ? "%.1f %s%s" : "%.2f %s%s", x, prefixes[p], unit);
  return text;
}
inline std::string time_text(double seconds) {
  char text[48];
  const double us = 1e6 * seconds;
  if (us >= 1e3) std::snprintf(text, sizeof text, us >= 1e5 ? "%.0f ms" : "%.2f ms", us / 1e3);
  else std::snprintf(text, sizeof text, us >= 10 ? "%.0f µs" : "%.2f µs", us);
  return text;
}
/// "12.3 kflop, 4.5 kB": what a card costs.
inline std::string cost_text(const card& c) {
  if (c.kind == "function") return "cost not known";
  if (c.flops < 0 || c.bytes < 0) return "cost known with the extents";
  return with_prefix(static_cast<double>(c.flops), "FLOP") + ", " + with_prefix(static_cast<double>(c.bytes), "B") + c.per;
}
/// "step 3", "steps 5, 6, 8".
inline std::string steps_text(const card& c) {
  std::string text = c.steps.size() == 1 ? "step " : "steps ";
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    if (i == 6) return text + ", …";
    text += (i ? ", " : "") + std::to_string(c.steps[i]);
  }
  return text;
}
/// A text within the markup of HTML, or of Graphviz.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace tenure::detail
