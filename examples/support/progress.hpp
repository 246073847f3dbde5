// SPDX-License-Identifier: BSL-1.0
// progress: on a terminal a bar with loss, accuracy and the time left; elsewhere a plain line after each tenth of the steps.
//     examples::progress bar("digits", epochs);
//     for (...) bar.step(loss, accuracy);
// Cost: it writes to a terminal at most 20 times a second, so most steps only format the accuracy and read the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace examples {

/// A duration as m:ss, or h:mm:ss from an hour on, or "-:--" if it is not known yet.
inline std::string clock_text(double seconds) {
  if (!(seconds >= 0 && seconds < 1e7)) return "-:--";
  const long s = static_cast<long>(seconds + 0.5);
  char text[32];
  if (s < 3600) std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
  else std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  return text;
}

class progress {
 public:
  enum class style { bar, lines };

  progress(std::string title, std::size_t steps)
      : progress(std::move(title), steps, std::cout, isatty(STDOUT_FILENO) ? style::bar : style::lines) {}
  progress(std::string title, std::size_t steps, std::ostream& out, style how)
      : title_(std::move(title)), steps_(steps), out_(out), style_(how) {}

  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() {
    if (style_ == style::bar && done_ > 0 && done_ < steps_) out_ << std::endl;  // an error message gets its own line
  }

  /// Counts one step. `accuracy` is a fraction: 0.978 is shown as 97.8 %.
  void step(double loss, double accuracy) {
    char text[32];
    std::snprintf(text, sizeof text, "accuracy %5.1f %%", 100 * accuracy);
    step(loss, std::string_view(text));
  }

  /// Counts one step, and shows `numbers` after the loss.
  void step(double loss, std::string_view numbers) {
    if (done_ == steps_) return;
    ++done_;
    const auto now = clock::now();
    const bool is_last = done_ == steps_;
    const bool is_tenth = done_ * 10 / steps_ > (done_ - 1) * 10 / steps_;
    const bool is_due =
        style_ == style::bar ? is_last || done_ == 1 || now - drawn_ >= std::chrono::milliseconds(50) : is_tenth;
    if (!is_due) return;
    drawn_ = now;
    draw(loss, numbers, std::chrono::duration<double>(now - start_).count());
  }

 private:
  using clock = std::chrono::steady_clock;

  void draw(double loss, std::string_view more, double elapsed) {
    const bool is_last = done_ == steps_;
    const double left = elapsed / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "%3zu %%  %*zu/%zu  loss %-8.4g %.*s  %s %s",
                  done_ * 100 / steps_, static_cast<int>(std::to_string(steps_).size()), done_, steps_, loss,
                  static_cast<int>(more.size()), more.data(), is_last ? "took" : "left", clock_text(is_last ? elapsed : left).c_str());
    if (style_ == style::lines) {
      out_ << title_ << ' ' << numbers << std::endl;
      return;
    }
    const std::size_t text = title_.size() + std::char_traits<char>::length(numbers) + 3, line = 80;
    const std::size_t width =
        std::clamp<std::size_t>(line > text ? line - text : 0, 5, 30);  // a wrapped line cannot be redrawn
    const std::size_t full = width * done_ / steps_;
    out_ << '\r' << title_ << " \x1b[32m";
    for (std::size_t i = 0; i < width; ++i) out_ << (i == full ? "\x1b[90m" : "") << "━";
    out_ << "\x1b[0m " << numbers << "\x1b[K";
    if (is_last) out_ << '\n';
    out_.flush();
  }

  std::string title_;
  std::size_t steps_, done_ = 0;
  std::ostream& out_;
  style style_;
  clock::time_point start_ = clock::now(), drawn_{};
};

}  // namespace examples
