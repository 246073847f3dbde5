// SPDX-License-Identifier: BSL-1.0
// to_dot(plan): a picture of a plan for Graphviz.
#pragma once

#include <string>

#include <tenure/inspect/labels.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Draws the cards of a picture. `prefix` makes the names of the cards different from those of other pictures in the file.
class dot_drawing {
 public:
  explicit dot_drawing(std::string& out) : out_(out) {}

  void draw(const picture& p, const std::string& prefix) {
    for (const phase part : {phase::forward, phase::both, phase::backward, phase::update}) {
      bool is_open = false;
      for (std::size_t i = 0; i < p.cards.size(); ++i) {
        if (p.cards[i].part != part) continue;
        if (!is_open && p.has_phases) frame(prefix + name_of(part), name_of(part), "#f7f9fb");
        is_open = true;
        draw(p.cards[i], prefix + std::to_string(i));
      }
      if (is_open && p.has_phases) out_ += "}\n";
    }
    for (std::size_t to = 0; to < p.cards.size(); ++to)
      for (std::size_t from = 0; from < p.cards.size(); ++from) {
        const name_list values = values_between(p.cards[to], static_cast<int>(from));
        if (values.empty()) continue;
        out_ += prefix + std::to_string(from) + " -> " + prefix + std::to_string(to) + " [label=<";
        for (std::size_t v = 0; v < values.size(); ++v) out_ += (v ? "<br/>" : "") + escaped(values[v]);
        const bool goes_back = from >= to;  // possible, because equal steps share a card
        out_ += std::string(">") + (goes_back ? ", style=dashed, constraint=false" : "") + "];\n";
      }
  }

 private:
  void frame(const std::string& name, const std::string& label, const char* color) {
    out_ += "subgraph \"group_" + name + "\" { label=\"" + label + "\"; ";
    out_ += std::string("style=\"rounded,filled\"; color=\"#d8dee6\"; fillcolor=\"") + color + "\";\n";
  }
  void draw(const card& c, const std::string& name) {
    constexpr const char* colors[] = {"#2a6fb0", "#7a4fa3", "#b3541e", "#2e7d4f"};
    const std::string color = colors[static_cast<int>(c.part)];
    if (!c.bodies.empty()) frame(name, "", "#ffffff");
    out_ += name + " [label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"4\" bgcolor=\"white\"";
    out_ += " color=\"" + color + "\">";
    std::string head = "<font color=\"" + color + "\"><b>" + escaped(steps_text(c)) + "</b></font>  " + c.kind;
    if (c.steps.size() > 1) head += "  <b>× " + std::to_string(c.steps.size()) + "</b>";
    row(head);
    row("<b>" + escaped(c.title) + "</b>");
    std::string cost = escaped(cost_text(c));
    if (c.seconds > 0) cost += ", " + time_text(c.seconds);
    row("<font color=\"#667085\">" + cost + "</font>");
    std::string reads, results;
    for (const name_group& n : grouped(c.reads)) {
      reads += (reads.empty() ? "" : "; ") + escaped(n.label);
      if (!n.view.empty()) reads += " <i>" + escaped(n.view) + "</i>";
    }
    for (const name_group& n : grouped(c.results)) results += (results.empty() ? "" : "; ") + escaped(n.label);
    if (!reads.empty()) row("<font color=\"#2a6fb0\">reads " + reads + "</font>");
    if (!results.empty()) row("<font color=\"#b42318\">gives " + results + "</font>");
    out_ += "</table>>];\n";
    for (std::size_t b = 0; b < c.bodies.size(); ++b) {
      const std::string inner = name + (b == 0 ? "a" : "b");
      frame(inner, c.bodies[b].name, "#f4f4f4");
      draw(c.bodies[b].content, inner + "_");
      out_ += "}\n";
    }
    if (!c.bodies.empty()) out_ += "}\n";
  }
  void row(const std::string& text) { out_ += "<tr><td align=\"left\">" + text + "</td></tr>"; }

  std::string& out_;
};

}  // namespace detail

/// A picture of a plan for Graphviz: dot -Tsvg plan.dot. Each step is a card with its operations, its cost, and the arguments and results
/// by name; equal steps are one card. Arrows are the values that go from step to step, with their shapes and views. Frames are the forward
/// half, the backward half and the update, and the bodies of loops and branches.
template <class Program, class Device>
std::string to_dot(plan<Program, Device>, const picture_text& text = {}) {
  const detail::picture p = detail::picture_of<Program, Device>(detail::names_of_program<Program>::get(text.arguments), text.times);
  std::string out = "digraph plan {\nrankdir=TB; fontname=\"Helvetica\"; fontsize=11;\n";
  out += "node [shape=plain, fontname=\"Helvetica\", fontsize=10];\n";
  out += "edge [fontname=\"Helvetica\", fontsize=9, color=\"#98a2b3\", fontcolor=\"#667085\"];\n";
  detail::dot_drawing(out).draw(p, "n");
  return out + "}\n";
}

}  // namespace tenure
