// SPDX-License-Identifier: BSL-1.0
// to_html(plan) and write_html(plan, "plan.html"): a plan as one page for a browser, which loads nothing else. The cards stand in the order
// of the steps: forward from the top down, backward beside it from the bottom up, the update last.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include <tenure/core/error.hpp>
#include <tenure/inspect/labels.hpp>
#include <tenure/inspect/page.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// A number for markup, with one digit after the point.
inline std::string one_digit(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

/// Writes the page of a picture.
class html_drawing {
 public:
  explicit html_drawing(const picture_text& text) : text_(text) {
    for (const profiled_step& s : text.times.steps) total_ += s.seconds;
  }

  std::string page(const picture& p) {
    passes::writer out;
    out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        << "<title>" << escaped(text_.title) << "</title>\n<style>" << style_of_page << "</style>\n</head>\n<body>\n";
    header(out, p);
    out << "<main>\n<section class=\"graph\">\n";
    lanes(out, p, "n");
    out << "<svg class=\"wires\"><defs>\n<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" "
        << "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" style=\"fill:var(--wire);stroke:none\"/></marker></defs>\n"
        << wires_.text() << "</svg>\n</section>\n<aside>\n";
    memory(out, p);
    out << "<section class=\"panel\" id=\"nodes\"><h2>Nodes</h2><p>Point at a card to see what it computes, what it reads, and the memory "
        << "that it uses. A click keeps the card.</p></section>\n<section class=\"panel\"><h2>Arguments</h2><ol>";
    for (const std::string& a : p.arguments) out << "<li>" << escaped(a) << "</li>";
    out << "</ol></section>\n";
    places(out);
    out << "</aside>\n</main>\n<script>" << script_of_page << "</script>\n</body>\n</html>\n";
    return out.text();
  }

 private:
  static const char* class_of(phase p) {
    constexpr const char* names[] = {"forward", "both", "backward", "update"};
    return names[static_cast<int>(p)];
  }

  /// The time of each source line, or of each operation.
  void places(passes::writer& out) const {
    if (total_ <= 0 || text_.times.places.empty()) return;
    out << "<section class=\"panel\"><h2>" << (text_.times.no_lines.empty() ? "Time by source line" : "Time by operation") << "</h2><ol>";
    for (const profiled_place& p : text_.times.places)
      out << "<li>" << one_digit(100 * p.seconds / total_) << " % " << escaped(place_text(p)) << "</li>";
    out << "</ol></section>\n";
  }

  void header(passes::writer& out, const picture& p) const {
    const auto total = [&](const std::string& number, const char* what) { out << "<span><b>" << number << "</b> " << what << "</span>"; };
    const auto amount = [](auto n, const char* unit) { return with_prefix(static_cast<double>(n), unit); };
    out << "<header><h1>" << escaped(text_.title) << "</h1>";
    total(std::to_string(p.steps), p.steps == 1 ? "step" : "steps");
    if (p.flops >= 0) total(amount(p.flops, "FLOP"), "");
    if (p.bytes >= 0) total(amount(p.bytes, "B"), "read and written");
    if (p.workspace >= 0) total(amount(p.workspace, "B"), "of temporary memory");
    if (p.kept > 0) total(amount(p.kept, "B"), "kept for the gradient");
    if (text_.times.seconds > 0) {
      total(time_text(text_.times.seconds), "a call");
      std::string most = amount(text_.times.flops_per_second, "FLOP/s");
      most += ", " + amount(text_.times.bytes_per_second, "B/s");
      total(most, "is the most of one core");
    }
    out << "</header>\n";
  }

  /// A column for each half, and one for the update. The cards that belong to both halves are below the two columns.
  void lanes(passes::writer& out, const picture& p, const std::string& prefix) {
    std::string forward, backward, both, update, last;  // last: forward cards after the cards of both halves
    for (std::size_t i = 0; i < p.cards.size(); ++i) {
      const phase part = p.cards[i].part;
      const std::string drawn = article(p.cards[i], prefix + std::to_string(i));
      if (part == phase::backward) backward.insert(0, drawn);  // from the bottom up
      else (part == phase::both ? both : part == phase::update ? update : both.empty() ? forward : last) += drawn;
    }
    const int columns = !p.has_phases ? 1 : update.empty() ? 2 : 3;
    const auto column = [&](const char* place, const std::string& cards) {
      if (!cards.empty()) out << "<div class=\"column\" style=\"grid-area:" << place << "\">\n" << cards << "</div>\n";
    };
    out << "<div class=\"lanes\" style=\"grid-template-columns:repeat(" << columns << ",minmax(0,330px))\">\n";
    for (int i = 0; p.has_phases && i < columns; ++i) {
      const char* name = name_of(i == 0 ? phase::forward : i == 1 ? phase::backward : phase::update);
      out << "<h2 class=\"" << name << "\" style=\"grid-area:1 / " << i + 1 << "\">" << name << "</h2>\n";
    }
    column("2 / 1", forward);
    column("2 / 2", backward);
    column(p.has_phases ? "3 / 1 / 4 / 3" : "3 / 1", both);
    column("4 / 1", last);
    column("2 / 3 / 5 / 4;justify-content:center", update);
    out << "</div>\n";
    add_wires(p, prefix);
  }

  /// One arrow for all values that a card reads from another card.
  void add_wires(const picture& p, const std::string& prefix) {
    for (std::size_t to = 0; to < p.cards.size(); ++to)
      for (std::size_t from = 0; from < p.cards.size(); ++from) {
        const name_list values = values_between(p.cards[to], static_cast<int>(from));
        if (values.empty() || from == to) continue;
        std::string label, all;
        for (const std::string& v : values) {
          const std::size_t view = v.find("] ");  // views are always shown, shapes only where the reader points at a card
          if (view != std::string::npos) label += (label.empty() ? "" : "; ") + v.substr(view + 2);
          all += (all.empty() ? "" : "; ") + v;
        }
        const char* const goes_back = from > to ? " stroke-dasharray=\"5 4\"" : "";  // possible, because equal steps share a card
        wires_ << "<path id=\"w" << wire_count_++ << "\" data-from=\"" << prefix << from << "\" data-to=\"" << prefix << to
               << "\" data-label=\"" << escaped(label) << "\" data-all=\"" << escaped(all) << "\" marker-end=\"url(#tip)\""
               << goes_back << "/>\n";
      }
  }

  std::string article(const card& c, const std::string& name) {
    passes::writer out;
    const bool is_outer = name.find('_') == std::string::npos;  // the steps of a body are not steps of the memory chart
    out << "<article class=\"card " << (is_outer ? class_of(c.part) : "inner") << "\" id=\"" << name << "\" tabindex=\"0\"";
    if (is_outer) {
      out << " data-steps=\"";
      for (std::size_t i = 0; i < c.steps.size(); ++i) out << (i > 0 ? " " : "") << c.steps[i];
      out << '"';
    }
    out << ">\n<div class=\"kind\"><b>" << steps_text(c) << "</b><span>" << c.kind << "</span>";
    if (c.steps.size() > 1) out << "<span class=\"times\">× " << c.steps.size() << "</span>";
    out << "</div>\n<div class=\"title\">" << escaped(c.title) << "</div>\n<div class=\"cost\">" << cost_text(c) << "</div>\n";
    add_time(out, c);
    out << "<div class=\"chips\">";
    for (const name_group& n : grouped(c.reads)) add_chip(out, n, false);
    for (const name_group& n : grouped(c.results)) add_chip(out, n, true);
    out << "</div>\n";
    for (std::size_t b = 0; b < c.bodies.size(); ++b) {
      out << "<div class=\"frame\"><h3>" << c.bodies[b].name << "</h3>\n";
      lanes(out, c.bodies[b].content, name + (b == 0 ? "a_" : "b_"));
      out << "</div>\n";
    }
    out << "<ol class=\"nodes\">";
    for (const std::string& line : c.lines) out << "<li>" << escaped(line) << "</li>";
    out << "</ol>\n</article>\n";
    return out.text();
  }
  void add_time(passes::writer& out, const card& c) const {
    if (c.seconds <= 0 || total_ <= 0) return;
    const std::string share = one_digit(100 * c.seconds / total_);
    out << "<div class=\"bar\"><i style=\"width:" << share << "%\"></i></div>\n";
    out << "<div class=\"cost\">" << time_text(c.seconds) << ", " << share << " %";
    const bool is_whole = c.kind != "function" && c.per.empty();  // the cost belongs to all of the measured time
    if (is_whole && c.flops > 0) out << ", " << with_prefix(static_cast<double>(c.flops) / c.seconds, "FLOP/s");
    if (is_whole && c.bytes > 0) out << ", " << with_prefix(static_cast<double>(c.bytes) / c.seconds, "B/s");
    out << "</div>\n";
  }
  static void add_chip(passes::writer& out, const name_group& n, bool is_result) {
    out << "<span" << (is_result ? " class=\"out\"" : "") << " data-names=\"";
    for (std::size_t i = 0; i < n.names.size(); ++i) out << (i > 0 ? "|" : "") << escaped(n.names[i]);
    out << "\">" << (is_result ? "→ " : "") << escaped(n.label);
    if (!n.view.empty()) out << " <em>" << escaped(n.view) << "</em>";
    out << "</span>";
  }

  /// The temporary memory. Each buffer is a box at its place in the workspace, from the step that writes it first to the last step that reads it.
  void memory(passes::writer& out, const picture& p) const {
    out << "<section class=\"panel\"><h2>Temporary memory over the steps</h2>";
    if (p.workspace < 0 || p.buffers.empty()) {
      constexpr const char* none = "None: each step reads arguments and writes results.";
      constexpr const char* later = "Its size is known when a call knows its run-time extents.";
      out << "<p>" << (p.workspace < 0 ? later : none) << "</p></section>\n";
      return;
    }
    constexpr double left = 52, top = 8, width = 312, height = 190;
    const double bytes = static_cast<double>(p.workspace), step = width / p.steps;
    std::vector<phase> parts(static_cast<std::size_t>(p.steps), phase::forward);
    for (const card& c : p.cards)
      for (const int s : c.steps) parts[static_cast<std::size_t>(s)] = c.part;
    const auto place = [&](double x, double y, double w, double h) {
      out << " x=\"" << one_digit(x) << "\" y=\"" << one_digit(y) << "\" width=\"" << one_digit(w) << "\" height=\"" << one_digit(h) << '"';
    };
    out << "<svg class=\"memory\" viewBox=\"0 0 368 218\">\n<line class=\"axis\" x1=\"52\" x2=\"364\" y1=\"198\" y2=\"198\"/>"
        << "<line class=\"axis\" x1=\"52\" x2=\"52\" y1=\"8\" y2=\"198\"/>\n"
        << "<text x=\"48\" y=\"16\" text-anchor=\"end\">" << with_prefix(bytes, "B") << "</text>"
        << "<text x=\"48\" y=\"198\" text-anchor=\"end\">0</text>\n";
    for (const drawn_buffer& b : p.buffers) {
      const double h = height * static_cast<double>(b.bytes) / bytes, y = top + height - h - height * static_cast<double>(b.offset) / bytes;
      out << "<rect class=\"" << class_of(parts[static_cast<std::size_t>(b.first)]) << (b.is_kept ? " kept" : "") << "\" data-steps=\"";
      for (int s = b.first; s <= b.last; ++s) out << (s > b.first ? " " : "") << s;
      out << "\" rx=\"2\"";
      place(left + step * b.first, y, step * (b.last - b.first + 1), h);
      out << "><title>" << escaped(b.name) << '\n' << with_prefix(static_cast<double>(b.bytes), "B");
      out << ", steps " << b.first << " to " << b.last << (b.is_kept ? ", kept for the gradient" : "") << "</title></rect>\n";
    }
    const int every = p.steps / 16 + 1;
    for (int s = 0; s < p.steps; ++s) {
      out << "<rect class=\"cursor\" data-steps=\"" << s << "\" pointer-events=\"none\"";
      place(left + step * s, top, step, height);
      out << "/>";
      if (s % every != 0) continue;
      out << "<text x=\"" << one_digit(left + step * (s + 0.5)) << "\" y=\"212\" text-anchor=\"middle\">" << s << "</text>\n";
    }
    out << "</svg>\n<p>Buffers that are not alive at the same time share bytes." << (p.kept > 0 ? " Outlined: kept for the gradient." : "")
        << "</p></section>\n";
  }

  const picture_text& text_;
  double total_ = 0;
  passes::writer wires_;
  int wire_count_ = 0;
};

}  // namespace detail

/// A plan as a page for a browser, in one text: the cards of the steps with their operations, costs and, with `text.times`, their times;
/// the values between them; loops and branches as frames with their bodies; the temporary memory over the steps. The page loads nothing.
template <class Program, class Device>
std::string to_html(plan<Program, Device>, const picture_text& text = {}) {
  const detail::picture p = detail::picture_of<Program, Device>(detail::names_of_program<Program>::get(text.arguments), text.times);
  return detail::html_drawing(text).page(p);
}

/// Writes the page to a file: write_html(plan, "plan.html", {.title = "digits", .arguments = {"w", "x"}, .times = profile(f)(w, x)}).
/// Throws io_error if the file cannot be written.
template <class Program, class Device>
void write_html(plan<Program, Device> p, const std::string& path, const picture_text& text = {}) {
  if (path.find('\0') != std::string::npos) throw io_error("tenure: write_html: " + path.substr(0, path.find('\0')) + ": a zero byte follows in the path, which no file name contains");
  std::ofstream file(path, std::ios::binary);
  if (!file) throw io_error("tenure: write_html: " + path + ": cannot be opened");
  file << to_html(p, text);
  file.flush();
  if (!file) throw io_error("tenure: write_html: " + path + ": cannot be written");
}

}  // namespace tenure
