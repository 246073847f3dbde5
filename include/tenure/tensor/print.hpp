// SPDX-License-Identifier: BSL-1.0
// Prints tensors. The elements are printed as NumPy prints them: in aligned columns, with at most eight digits after the point, in
// lines of at most 75 characters; of a tensor with more than a thousand elements only the first and last three along each axis.
// A last line gives dtype, shape and ownership: tensor<float32, 2x3, owning>.
#pragma once

#include <charconv>
#include <concepts>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "tensor.hpp"

namespace TENURE_NAMESPACE {

namespace detail {

inline constexpr int shown_edge = 3;
inline constexpr std::int64_t shown_whole = 1000;

// The common format of all numbers of one tensor. It puts their decimal points below each other.
struct number_format {
  bool exponent = false;
  int left = 0;   // characters before the point
  int right = 0;  // digits after the point
  int plain = 0;  // the width of an entry whose point is not aligned: bool, integers, numbers with an exponent
};

std::string digits_of(auto value, std::chars_format how, int precision) {
  char text[400];
  const auto end = precision < 0 ? std::to_chars(text, text + sizeof text, value, how)
                                 : std::to_chars(text, text + sizeof text, value, how, precision);
  return std::string(text, end.ptr);
}
/// For a narrow type: the number with the fewest decimal digits that reads back as the same value.
template <class T>
  requires number::is_narrow<T>
std::string digits_of(T value, std::chars_format how, int precision) {
  const auto exact = static_cast<double>(value);
  double shortest = exact;
  for (int digits = 0; digits < std::numeric_limits<T>::max_digits10; ++digits) {
    const std::string text = digits_of(exact, std::chars_format::scientific, digits);
    std::from_chars(text.data(), text.data() + text.size(), shortest);
    if (static_cast<double>(T(shortest)) == exact) break;
  }
  return digits_of(shortest, how, precision);
}

// The shortest decimal text that reads back as the same value, with at most eight digits after the point and without trailing
// zeros: "0.1", "3.".
std::string trimmed(auto value, std::chars_format how) {
  std::string text = digits_of(value, how, -1);
  std::string exponent;
  const auto cut = [&] {
    if (const auto e = text.find('e'); e != std::string::npos) {
      exponent = text.substr(e);
      text.resize(e);
    }
  };
  cut();
  if (const auto point = text.find('.'); point == std::string::npos) text += '.';
  else if (text.size() - point > 9) {
    text = digits_of(value, how, 8);
    cut();
    while (text.back() == '0') text.pop_back();
  }
  return text + exponent;
}

inline int digits_after_point(const std::string& text) {
  const auto point = text.find('.');
  const auto end = text.find('e');
  return static_cast<int>((end == std::string::npos ? text.size() : end) - point - 1);
}

template <class T>
bool is_finite(T v) { return v - v == 0; }

template <class T>
std::string word_for(T value, const number_format& f) {
  const auto pad_left = [](std::string text, int width) {
    const int gap = width - static_cast<int>(text.size());
    return gap > 0 ? std::string(static_cast<std::size_t>(gap), ' ') + text : text;
  };
  if constexpr (std::is_same_v<T, bool>) return pad_left(value ? "True" : "False", f.plain);
  else if constexpr (std::is_integral_v<T>) return pad_left(std::to_string(value), f.plain);
  else {
    if (!is_finite(value)) return pad_left(value != value ? "nan" : value < 0 ? "-inf" : "inf", f.left + 1 + f.right);
    if (f.exponent) {
      std::string text = digits_of(value, std::chars_format::scientific, f.right);
      if (f.right == 0) text.insert(text.find('e'), 1, '.');  // with a string literal g++ gives a false -Wrestrict warning (gcc bug 105651)
      return pad_left(std::move(text), f.plain);
    }
    std::string text = trimmed(value, std::chars_format::fixed);
    const int right = digits_after_point(text);
    return pad_left(std::move(text), f.left + 1 + right) + std::string(static_cast<std::size_t>(f.right - right), ' ');
  }
}

// Calls visit(offset) for each element that is printed.
void for_each_shown(const layout& l, bool summarised, int axis, std::int64_t offset, const auto& visit) {
  if (axis == l.shape.rank) return visit(offset);
  const std::int64_t n = l.shape[axis];
  for (std::int64_t i = 0; i < n; ++i) {
    if (summarised && n > 2 * shown_edge && i == shown_edge) i = n - shown_edge;
    for_each_shown(l, summarised, axis + 1, offset + i * l.strides[axis], visit);
  }
}

template <class T>
number_format format_for(const T* data, const layout& l, bool summarised) {
  number_format f;
  const auto widen = [](int& width, std::size_t to) {
    width = static_cast<int>(to) > width ? static_cast<int>(to) : width;
  };
  if constexpr (!number::is_floating<T>) {
    for_each_shown(l, summarised, 0, 0, [&](std::int64_t i) { widen(f.plain, word_for(data[i], {}).size()); });
  } else {
    number::lane_t<T> least = 0, most = 0;
    for_each_shown(l, summarised, 0, 0, [&](std::int64_t i) {
      const number::lane_t<T> v = data[i] < 0 ? -data[i] : data[i];
      if (!is_finite(v) || v == 0) return;
      least = least == 0 || v < least ? v : least;
      most = v > most ? v : most;
    });
    f.exponent = most != 0 && (most >= 1e8f || least < static_cast<number::lane_t<T>>(1e-4) || most / least > 1000);
    const auto how = f.exponent ? std::chars_format::scientific : std::chars_format::fixed;
    for_each_shown(l, summarised, 0, 0, [&](std::int64_t i) {
      if (!is_finite(data[i])) return;
      const std::string text = trimmed(data[i], how);
      widen(f.right, static_cast<std::size_t>(digits_after_point(text)));
      widen(f.left, text.find('.'));
    });
    for_each_shown(l, summarised, 0, 0, [&](std::int64_t i) {
      if (is_finite(data[i])) {
        if (f.exponent) widen(f.plain, word_for(data[i], {true, 0, f.right, 0}).size());
        return;
      }
      const int length = data[i] < 0 ? 4 : 3;
      if (length > f.left + 1 + f.right) f.left = length - 1 - f.right;
    });
    if (f.exponent) f.left = f.plain - 1 - f.right > f.left ? f.plain - 1 - f.right : f.left;
  }
  return f;
}

template <class T>
std::string array_text(const T* data, const layout& l, bool summarised, const number_format& f, int axis,
                       std::int64_t offset, int width) {
  const std::string indent(static_cast<std::size_t>(axis + 1), ' ');
  const std::int64_t n = l.shape[axis];
  const bool is_last = axis + 1 == l.shape.rank;
  std::string text;
  std::string line = indent;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool skips = summarised && n > 2 * shown_edge && i == shown_edge;
    if (skips) i = n - shown_edge - 1;
    std::string entry = skips ? "..."
                        : is_last
                            ? word_for(data[offset + i * l.strides[axis]], f)
                            : array_text(data, l, summarised, f, axis + 1, offset + i * l.strides[axis], width - 1);
    if (is_last) {
      const bool wraps =
          line.size() + entry.size() > static_cast<std::size_t>(width - 1) && line.size() > indent.size();
      if (wraps) {
        while (line.back() == ' ') line.pop_back();
        text += line + '\n';
        line = indent;
      }
      line += entry;
      if (i + 1 < n) line += ' ';
    } else {
      text += indent + entry;
      if (i + 1 < n) text += std::string(static_cast<std::size_t>(l.shape.rank - axis - 1), '\n');
    }
  }
  if (is_last) text += line;
  return '[' + (text.size() >= indent.size() ? text.substr(indent.size()) : std::string()) + ']';
}

}  // namespace detail

/// "owning", "aliasing" or "detached". Printed tensors and messages use these names.
constexpr const char* name_of(ownership o) {
  return o == ownership::owning ? "owning" : o == ownership::aliasing ? "aliasing" : "detached";
}

/// Prints the elements and a line with dtype, shape, ownership and, if they are not the default, role, access and device. A
/// tensor in the memory of a device is copied to the host first. Throws ownership_error if x is empty.
template <element T, class Shape, ownership O, role R, access A, class Device>
std::ostream& operator<<(std::ostream& out, const tensor<T, Shape, O, R, A, Device>& x) {
  using door = detail::tensor_access;
  door::check_alive(x, "operator<<");
  const auto readable = [&]() -> decltype(auto) {
    if constexpr (std::is_same_v<Device, cpu_device>) return (x);
    else return x.detach().to(cpu);
  };
  decltype(auto) here = readable();
  const T* const data = door::read(here, "operator<<");
  const layout l = door::layout_of(here);
  const bool summarised = x.size() > detail::shown_whole;
  std::string text;  // the whole text is built first: writing a string needs only <iosfwd> and <string>, not <ostream>
  if constexpr (Shape::rank == 0) {
    if constexpr (number::is_floating<T>) {
      const detail::number_format f = detail::format_for(data, l, false);
      text = detail::word_for(*data, f);
      if (text.back() == '.') text += '0';
    } else {
      text = detail::word_for(*data, {});
    }
  } else if (x.size() == 0) {
    text = "[]";
  } else {
    text = detail::array_text(data, l, summarised, detail::format_for(data, l, summarised), 0, 0, 75);
  }
  ((text += "\ntensor<") += name_of(dtype_v<T>)) += ", ";
  ((text += detail::spell(l.shape).c_str()) += ", ") += name_of(O);
  if (R != role::constant) text += R == role::leaf ? ", leaf" : ", node";
  if (A == access::read_only) text += ", read_only";
  if (std::is_same_v<Device, cuda_device>) text += ", cuda";
  return out << (text += '>');
}

/// Prints extents as messages do: 2x3, or scalar where there are no axes. (A template, because <iosfwd> does not define std::ostream.)
template <std::same_as<extents> Shape>
std::ostream& operator<<(std::ostream& out, const Shape& s) { return out << std::string(detail::spell(s)); }

}  // namespace tenure
