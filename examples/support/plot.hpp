// SPDX-License-Identifier: BSL-1.0
// plot: curves against the epoch as an SVG picture, with one panel for each quantity.
//     examples::write_svg("curve.svg", {.title = "digits", .panels = {{"loss", {{"training", losses}}}}});
// Law: every finite value lies inside its panel; a value that is not finite leaves a gap.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// values[i] belongs to epoch i + 1.
struct curve {
  std::string name;
  std::vector<double> values;
};

/// percent shows fractions as percentages (0.978 as 97.8 %). logarithmic shows positive values only.
enum class scale { linear, percent, logarithmic };

struct panel {
  std::string label;
  std::vector<curve> curves;
  scale axis = scale::linear;
};

struct plot {
  std::string title;
  std::string x_label = "epoch";
  std::vector<panel> panels;
};

namespace detail {

/// A number with a fixed count of digits. It always has a decimal point, in every locale.
inline std::string fixed(double value, int digits) {
  char text[400];
  const double shown = std::abs(value) < 0.5 * std::pow(10.0, -digits) ? 0.0 : value;  // never "-0"
  return {text, std::to_chars(text, text + sizeof text, shown, std::chars_format::fixed, digits).ptr};
}
inline std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr};
}

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

/// An axis from low to high (in decades, if logarithmic), with its ticks.
struct axis {
  double low, high;
  scale how;
  std::vector<double> ticks;

  double fraction(double value) const {
    const double v = how == scale::logarithmic ? std::log10(value) : value;
    return (v - low) / (high - low);
  }
  bool shows(double value) const { return std::isfinite(value) && (how != scale::logarithmic || value > 0); }
};

/// The largest step of the form 1, 2 or 5 times a power of ten that divides `range` into at least three parts.
inline double tick_step(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 3)));
  const double multiple = range / 3 / power;
  return power * (multiple >= 5 ? 5 : multiple >= 2 ? 2 : 1);
}

inline axis value_axis(const panel& of) {
  axis out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), of.axis, {}};
  for (const curve& c : of.curves)
    for (const double value : c.values)
      if (out.shows(value)) out.low = std::min(out.low, value), out.high = std::max(out.high, value);
  const bool is_empty = out.low > out.high;
  if (is_empty) out.low = out.high = 1;

  if (out.how == scale::logarithmic) {
    out.low = std::log10(out.low) - 0.05, out.high = std::log10(out.high) + 0.05;
    const double decades = out.high - out.low;
    const std::vector<double> multiples = decades > 3     ? std::vector<double>{1}
                                          : decades > 0.8 ? std::vector<double>{1, 2, 5}
                                                          : std::vector<double>{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
    const int stride = static_cast<int>(std::ceil(decades / 8));
    for (int decade = static_cast<int>(std::floor(out.low)); decade <= out.high; decade += stride)
      for (const double multiple : multiples) {
        const double tick = multiple * std::pow(10.0, decade), place = std::log10(tick);
        if (place >= out.low && place <= out.high) out.ticks.push_back(tick);
      }
    return out;
  }
  const bool ends_at_all = out.how == scale::percent && out.high <= 1;  // no accuracy above 100 %
  const double size = std::max(std::abs(out.low), std::abs(out.high));
  const bool is_flat = out.high - out.low <= 1e-6 * size;  // the labels of the ticks would not differ
  if (is_flat) out.low -= size > 0 ? 0.1 * size : 1, out.high += size > 0 ? 0.1 * size : 1;
  const double step = tick_step(out.high - out.low);
  out.low = std::floor(out.low / step) * step;
  out.high = std::ceil(out.high / step) * step;
  if (ends_at_all && out.high > 1) out.high = 1;
  for (int i = 0; out.low + i * step <= out.high + 1e-6 * step; ++i) out.ticks.push_back(out.low + i * step);
  return out;
}

/// The axis of epochs 1 to n, with integer ticks at multiples of 1, 2 or 5 times a power of ten.
inline axis epoch_axis(const panel& of) {
  std::size_t epochs = 0;
  for (const curve& c : of.curves) epochs = std::max(epochs, c.values.size());
  axis out{epochs > 1 ? 1.0 : 0.0, epochs > 1 ? static_cast<double>(epochs) : 2.0, scale::linear, {}};
  const double step = std::max(1.0, tick_step(static_cast<double>(std::max<std::size_t>(epochs, 3))));
  if (step > 1 || epochs <= 1) out.ticks.push_back(1);
  for (double tick = step; tick <= static_cast<double>(epochs) && epochs > 1; tick += step) out.ticks.push_back(tick);
  return out;
}

inline std::string tick_text(double tick, const axis& of) {
  if (of.how == scale::logarithmic) return shortest(tick);
  const double factor = of.how == scale::percent ? 100 : 1;
  const double step = of.ticks.size() > 1 ? (of.ticks[1] - of.ticks[0]) * factor : 1;
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  const bool is_large = std::abs(tick) >= 1e6;
  return (is_large ? shortest(tick * factor) : fixed(tick * factor, digits)) + (of.how == scale::percent ? " %" : "");
}

/// Writes elements; coordinates are pixels from the top left corner.
class svg {
 public:
  svg(double width, double height) {
    const std::string w = fixed(width, 0), h = fixed(height, 0);
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w +
            " " + h +
            "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\" font-size=\"13\">\n" +
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  }
  void line(double x1, double y1, double x2, double y2, const char* color, double width = 1) {
    text_ += "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" + fixed(x2, 1) + "\" y2=\"" +
             fixed(y2, 1) + "\" stroke=\"" + color + "\" stroke-width=\"" + fixed(width, 1) + "\"/>\n";
  }
  /// anchor: start, middle or end; more: further attributes.
  void text(double x, double y, std::string_view content, const char* anchor,
            std::string_view more = "fill=\"#57606a\"") {
    text_ += "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" + anchor + "\" ";
    text_.append(more).append(">").append(escaped(content)).append("</text>\n");
  }
  void path(const std::string& points, const char* color) {
    text_ += "<path d=\"" + points + "\" fill=\"none\" stroke=\"" + color +
             "\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n";
  }
  void dot(double x, double y, const char* color) {
    text_ += "<circle cx=\"" + fixed(x, 1) + "\" cy=\"" + fixed(y, 1) + "\" r=\"3\" fill=\"" + color + "\"/>\n";
  }
  std::string finish() { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

struct box {
  double left, top, width, height;
  double x(double fraction) const { return left + fraction * width; }
  double y(double fraction) const { return top + (1 - fraction) * height; }
};

inline constexpr const char* colors[] = {"#0969da", "#d9480f", "#2b8a3e", "#8250df", "#b35900", "#0b7285"};  // on white

inline void draw_curve(svg& out, const curve& c, const axis& epochs, const axis& values, const box& in,
                       const char* color) {
  std::string points;
  std::size_t run = 0;
  double x = 0, y = 0;
  const auto end_run = [&] {
    if (run == 1) out.dot(x, y, color);  // a line of one point would be invisible
    run = 0;
  };
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    if (!values.shows(c.values[i])) {
      end_run();
      continue;
    }
    x = in.x(epochs.fraction(static_cast<double>(i + 1)));
    y = in.y(values.fraction(c.values[i]));
    points += (run++ ? " L" : " M") + fixed(x, 1) + " " + fixed(y, 1);
  }
  end_run();
  if (!points.empty()) out.path(points.substr(1), color);
}

inline void draw_panel(svg& out, const panel& of, const std::string& x_label, const box& in) {
  const axis values = value_axis(of), epochs = epoch_axis(of);
  for (const double tick : values.ticks) {
    const double y = in.y(values.fraction(tick));
    out.line(in.left, y, in.left + in.width, y, "#e6e9ed");
    out.text(in.left - 8, y + 4.5, tick_text(tick, values), "end");
  }
  for (const double tick : epochs.ticks) {
    const double x = in.x(epochs.fraction(tick));
    out.line(x, in.top + in.height, x, in.top + in.height + 5, "#57606a");
    out.text(x, in.top + in.height + 20, fixed(tick, 0), "middle");
  }
  out.line(in.left, in.top + in.height, in.left + in.width, in.top + in.height, "#57606a");
  out.line(in.left, in.top, in.left, in.top + in.height, "#57606a");
  out.text(in.left + in.width / 2, in.top + in.height + 42, x_label, "middle");
  out.text(in.left, in.top - 14, of.label + (of.axis == scale::logarithmic ? " (log)" : ""), "start",
           "fill=\"#1f2328\" font-weight=\"bold\"");

  double legend = in.left + in.width;
  for (std::size_t i = of.curves.size(); i-- > 0;) {  // from the right edge to the left
    const char* color = colors[i % std::size(colors)];
    draw_curve(out, of.curves[i], epochs, values, in, color);
    out.text(legend, in.top - 14, of.curves[i].name, "end");
    legend -= 6 * static_cast<double>(of.curves[i].name.size()) + 26;
    out.line(legend, in.top - 18.5, legend + 18, in.top - 18.5, color, 3);
    legend -= 18;
  }
}

}  // namespace detail

/// The picture as text.
inline std::string to_svg(const plot& of) {
  if (of.panels.empty()) throw std::invalid_argument("plot: no panels");
  constexpr double panel_width = 480, height = 400, left = 70, right = 24, top = 92, bottom = 62;
  detail::svg out(panel_width * static_cast<double>(of.panels.size()), height);
  out.text(left, 38, of.title, "start", "fill=\"#1f2328\" font-size=\"18\" font-weight=\"bold\"");
  for (std::size_t i = 0; i < of.panels.size(); ++i)
    detail::draw_panel(
        out, of.panels[i], of.x_label,
        {panel_width * static_cast<double>(i) + left, top, panel_width - left - right, height - top - bottom});
  return out.finish();
}

inline void write_svg(const std::filesystem::path& path, const plot& of) {
  const std::string text = to_svg(of);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace examples
