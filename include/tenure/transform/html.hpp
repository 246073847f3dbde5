// SPDX-License-Identifier: BSL-1.0
// to_html(plan) and write_html(plan, "plan.html"): a plan as one page for a browser, which loads nothing else. The cards stand in the order of the
// steps: forward from the top down, backward beside it from the bottom up, the update last. The browser places the cards, and a short script
// draws the arrows between them.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include <tenure/core/error.hpp>
#include <tenure/transform/picture.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

inline constexpr const char* style_of_page = R"css(
:root { --ink: #1d2733; --soft: #667085; --line: #d5dbe3; --page: #f5f7fa; --card: #ffffff; --wire: #9aa5b4;
  --forward: #2a6fb0; --both: #7a4fa3; --backward: #b3541e; --update: #2e7d4f; --result: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #98a2b3; --line: #37414f; --page: #14191f; --card: #1e252e; --wire: #5d6b7d;
  --forward: #6bb0ee; --both: #c29be4; --backward: #f0995f; --update: #6cc58e; --result: #f2857a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 28px; padding: 18px 28px 14px; background: var(--card); border-bottom: 1px solid var(--line); }
h1 { font-size: 20px; margin: 0; }
header span { color: var(--soft); } header b { color: var(--ink); font-size: 16px; }
main { display: flex; align-items: flex-start; gap: 28px; padding: 20px 28px 40px; }
.graph { position: relative; flex: 1 1 auto; min-width: 0; }
.wires { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; overflow: visible; z-index: 2; }
.wires path { fill: none; stroke: var(--wire); stroke-width: 1.6; }
.wires text { font-size: 11px; fill: var(--soft); text-anchor: middle; paint-order: stroke; stroke: var(--page); stroke-width: 5px; }
.lanes { display: grid; gap: 34px 80px; padding: 0 36px; justify-content: center; }
.lanes > h2 { margin: 0 0 -16px; font-size: 12px; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; text-align: center; }
h2.forward, .forward .kind b { color: var(--forward); } h2.backward, .backward .kind b { color: var(--backward); }
h2.update, .update .kind b { color: var(--update); } .both .kind b { color: var(--both); }
.column { display: flex; flex-direction: column; gap: 34px; justify-content: flex-end; }
.card { position: relative; background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--forward); border-radius: 8px;
  padding: 9px 13px 11px; box-shadow: 0 1px 2px #1018280f; outline: none; min-width: 210px; }
.card.both { border-left-color: var(--both); } .card.backward { border-left-color: var(--backward); } .card.update { border-left-color: var(--update); }
.card.inner { border-left-color: var(--wire); } .card.inner > .kind b { color: var(--soft); }
.card:hover, .card:focus, .card.pinned { box-shadow: 0 0 0 2px var(--wire); }
.kind { display: flex; justify-content: space-between; gap: 14px; font-size: 12px; color: var(--soft); }
.times { background: var(--ink); color: var(--card); border-radius: 9px; padding: 0 7px; font-weight: 600; }
.title { font-weight: 600; margin: 1px 0 2px; overflow-wrap: anywhere; }
.cost { font-size: 12px; white-space: nowrap; color: var(--soft); font-variant-numeric: tabular-nums; }
.bar { height: 4px; border-radius: 2px; background: var(--line); margin: 5px 0 1px; } .bar i { display: block; height: 100%; border-radius: 2px; background: var(--soft); }
.chips { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 6px; font-size: 12px; }
.chips span { border: 1px solid currentColor; border-radius: 9px; padding: 0 7px; color: var(--forward); }
.chips span.out { color: var(--result); } .chips em { font-style: normal; color: var(--soft); } .chips span.on { background: var(--forward); color: var(--card); }
.chips span.on em { color: inherit; }
.frame { margin-top: 9px; border: 1px dashed var(--line); border-radius: 7px; padding: 4px 10px 10px; background: var(--page); }
.frame h3 { margin: 0 0 4px; font-size: 11px; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
.frame .lanes { padding: 0 22px; gap: 0; justify-content: stretch; grid-template-columns: 1fr !important; } .frame .column { gap: 20px; }
.faded { opacity: .18; } .wires .lit { stroke: var(--ink); stroke-width: 2.2; } .wires text.lit { fill: var(--ink); stroke-width: 5px; }
aside { flex: 0 0 360px; position: sticky; top: 20px; display: grid; gap: 18px; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px 14px; }
.panel h2 { margin: 0 0 8px; font-size: 13px; } .panel p { margin: 0; color: var(--soft); font-size: 13px; }
.panel ol { list-style: none; margin: 0; padding: 0; max-height: 44vh; overflow: auto; font: 12px/1.6 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.panel li { white-space: pre-wrap; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); padding: 1px 0; } .panel li:last-child { border: 0; }
.nodes { display: none; }
.memory { display: block; width: 100%; } .memory text { font-size: 10px; fill: var(--soft); }
.memory rect { stroke: var(--card); stroke-width: 1; fill: var(--forward); opacity: .8; } .memory rect.backward { fill: var(--backward); }
.memory rect.both { fill: var(--both); } .memory rect.update { fill: var(--update); } .memory rect.kept { opacity: 1; stroke: var(--ink); }
.memory .axis { stroke: var(--line); } .memory rect.lit { stroke: var(--ink); stroke-width: 2; opacity: 1; } .memory rect.cursor { fill: var(--ink); opacity: 0; stroke: none; }
.memory rect.cursor.lit { opacity: .1; stroke: none; }
@media (max-width: 1100px) { main { flex-direction: column; align-items: stretch; } aside { position: static; flex-basis: auto; } .lanes { padding: 0 12px; gap: 30px 40px; } }
)css";

inline constexpr const char* script_of_page = R"js(
(() => {
  const graph = document.querySelector('.graph'), svg = document.querySelector('.wires'), panel = document.querySelector('#nodes');
  const idle = panel.innerHTML, wires = [...svg.querySelectorAll('path[data-from]')];
  const cards = [...document.querySelectorAll('.card')];
  const outside = (card, a, b) => card !== a && card !== b && !card.contains(a) && !card.contains(b) && !a.contains(card) && !b.contains(card);

  // Writes the values of an arrow, one on a line.
  function write(text, values) {
    const lines = values.split(/[;,] /);
    text.replaceChildren(...lines.map((line, i) => { const t = document.createElementNS('http://www.w3.org/2000/svg', 'tspan');
      t.setAttribute('x', text.dataset.x); t.setAttribute('dy', i ? '1.2em' : `${0.35 - 0.6 * (lines.length - 1)}em`); t.textContent = line; return t; }));
  }

  // Each end of an arrow is on a side of a card, and the ends on a side stand in the order of the other ends.
  function draw() {
    const origin = graph.getBoundingClientRect(), sides = new Map();
    const rect = e => { const r = e.getBoundingClientRect();
      return { l: r.left - origin.left, r: r.right - origin.left, t: r.top - origin.top, b: r.bottom - origin.top, x: (r.left + r.right) / 2 - origin.left, y: (r.top + r.bottom) / 2 - origin.top }; };
    const plans = wires.map(path => {
      const from = document.getElementById(path.dataset.from), to = document.getElementById(path.dataset.to), a = rect(from), b = rect(to);
      const l = Math.max(a.l, b.l), r = Math.min(a.r, b.r), below = b.t >= a.b - 1, above = b.b <= a.t + 1;
      const blocked = cards.some(c => { const k = rect(c); return outside(c, from, to) && k.l < r && k.r > l && (below ? k.t >= a.b - 1 && k.b <= b.t + 1 : k.t >= b.b - 1 && k.b <= a.t + 1); });
      let kind = 'bow', at = ['right', 'right'];
      if (r - l > 40 && (below || above)) {
        if (!blocked) { kind = 'down'; at = below ? ['bottom', 'top'] : ['top', 'bottom']; }
        else if (!to.classList.contains('backward')) at = ['left', 'left'];
      } else if (r - l <= 40) { kind = 'across'; at = b.x > a.x ? ['right', 'left'] : ['left', 'right']; }
      [[from, at[0], b], [to, at[1], a]].forEach(([card, side, other], end) => {
        const key = card.id + ' ' + side; if (!sides.has(key)) sides.set(key, []);
        sides.get(key).push({ path, end, order: side === 'left' || side === 'right' ? other.y : other.x });
      });
      return { path, kind, at, a, b, l, r };
    });
    const slot = new Map();
    for (const ends of sides.values()) {
      ends.sort((p, q) => p.order - q.order);
      ends.forEach((e, i) => slot.set(e.path.id + e.end, (i + 1) / (ends.length + 1)));
    }
    const point = (card, side, share) => [side === 'left' ? card.l : card.r, card.t + share * (card.b - card.t)];
    svg.querySelectorAll('text').forEach(t => t.remove());
    for (const { path, kind, at, a, b } of plans) {
      const shares = [slot.get(path.id + 0), slot.get(path.id + 1)], [x, y] = point(a, at[0], shares[0]), [u, v] = point(b, at[1], shares[1]);
      if (kind === 'down') {  // straight, where the narrower card says
        const [card, share] = a.r - a.l <= b.r - b.l ? [a, shares[0]] : [b, shares[1]], center = card.x + (share - 0.5) * 0.5 * (card.r - card.l);
        const h = Math.max(a.l + 8, b.l + 8, Math.min(a.r - 8, b.r - 8, center));
        path.setAttribute('d', `M${h},${at[0] === 'top' ? a.t : a.b} L${h},${at[1] === 'top' ? b.t : b.b}`);
      }
      else if (kind === 'across') { const h = Math.max(30, Math.abs(u - x) / 2) * (u > x ? 1 : -1); path.setAttribute('d', `M${x},${y} C${x + h},${y} ${u - h},${v} ${u},${v}`); }
      else { const h = (at[0] === 'left' ? -1 : 1) * Math.min(60, 24 + Math.abs(v - y) / 12); path.setAttribute('d', `M${x},${y} C${x + h},${y} ${u + h},${v} ${u},${v}`); }
      if (!path.dataset.all) continue;
      const middle = path.getPointAtLength(path.getTotalLength() / 2), text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      text.setAttribute('y', middle.y); text.dataset.wire = path.id; text.dataset.x = middle.x; text.dataset.label = path.dataset.label; text.dataset.all = path.dataset.all;
      write(text, path.dataset.label);
      svg.append(text);
    }
    document.documentElement.dataset.drawn = plans.length;
  }

  function show(card) {
    const split = e => e.dataset.names.split('|'), chips = [...document.querySelectorAll('[data-names]')];
    const names = new Set(chips.filter(e => card && card.contains(e)).flatMap(split));
    chips.forEach(e => e.classList.toggle('on', split(e).some(n => names.has(n)) && !e.classList.contains('out')));
    const steps = new Set(card && card.dataset.steps ? card.dataset.steps.split(' ') : []);
    for (const path of wires) {
      const lit = card && [path.dataset.from, path.dataset.to].some(id => id === card.id || card.contains(document.getElementById(id)));
      for (const e of [path, ...svg.querySelectorAll(`text[data-wire="${path.id}"]`)]) { e.classList.toggle('lit', !!lit); e.classList.toggle('faded', !!card && !lit); if (e.dataset.wire) write(e, lit ? e.dataset.all : e.dataset.label); }
    }
    document.querySelectorAll('.memory rect').forEach(r => r.classList.toggle('lit', r.dataset.steps.split(' ').some(s => steps.has(s))));
    const nodes = card && card.querySelector(':scope > .nodes');
    panel.innerHTML = nodes ? `<h2>${card.querySelector('.kind b').textContent}</h2><ol>${nodes.innerHTML}</ol>` : idle;
  }
  let pinned = null;
  for (const card of cards) {
    card.addEventListener('mouseover', e => { e.stopPropagation(); show(card); });
    card.addEventListener('mouseout', () => show(pinned));
    card.addEventListener('focus', () => show(card));
    card.addEventListener('click', e => { e.stopPropagation(); if (pinned) pinned.classList.remove('pinned'); pinned = pinned === card ? null : card; if (pinned) card.classList.add('pinned'); show(pinned || card); });
  }
  addEventListener('resize', draw);
  addEventListener('load', draw);
  if (document.fonts) document.fonts.ready.then(draw);
  draw();
  const step = location.hash.match(/^#step=(\d+)$/), chosen = step && cards.find(c => (c.dataset.steps || '').split(' ').includes(step[1]));  // plan.html#step=3
  if (chosen) chosen.click();
})();
)js";

/// Writes the page of a picture.
class html_drawing {
 public:
  explicit html_drawing(const picture_text& text) : text_(text) {
    for (const profiled_step& s : text.times.steps) total_ += s.seconds;
  }

  std::string page(const picture& p) {
    out_ = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
           escaped(text_.title) + "</title>\n<style>" + style_of_page + "</style>\n</head>\n<body>\n";
    header(p);
    out_ += "<main>\n<section class=\"graph\">\n";
    lanes(p, "n");
    out_ += "<svg class=\"wires\"><defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">"
            "<path d=\"M0,0 L8,4 L0,8 z\" style=\"fill:var(--wire);stroke:none\"/></marker></defs>\n" + wires_ + "</svg>\n</section>\n<aside>\n";
    memory(p);
    out_ += "<section class=\"panel\" id=\"nodes\"><h2>Nodes</h2><p>Point at a card to see what it computes, what it reads, and the memory that it uses. A click keeps the card.</p></section>\n";
    out_ += "<section class=\"panel\"><h2>Arguments</h2><ol>";
    for (const std::string& a : p.arguments) out_ += "<li>" + escaped(a) + "</li>";
    out_ += "</ol></section>\n</aside>\n</main>\n<script>" + std::string(script_of_page) + "</script>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  void header(const picture& p) {
    out_ += "<header><h1>" + escaped(text_.title) + "</h1>";
    total(std::to_string(p.steps), p.steps == 1 ? "step" : "steps");
    if (p.flops >= 0) total(with_prefix(static_cast<double>(p.flops), "FLOP"), "");
    if (p.bytes >= 0) total(with_prefix(static_cast<double>(p.bytes), "B"), "read and written");
    if (p.workspace >= 0) total(with_prefix(static_cast<double>(p.workspace), "B"), "of temporary memory");
    if (p.kept > 0) total(with_prefix(static_cast<double>(p.kept), "B"), "kept for the gradient");
    if (text_.times.seconds > 0) {
      total(time_text(text_.times.seconds), "a call");
      total(with_prefix(text_.times.flops_per_second, "FLOP/s") + ", " + with_prefix(text_.times.bytes_per_second, "B/s"), "is the most of one core");
    }
    out_ += "</header>\n";
  }
  void total(const std::string& number, const char* what) { out_ += "<span><b>" + number + "</b> " + what + "</span>"; }

  /// A column for each half, and one for the update. Both halves meet at the bottom, where the cards of both are.
  void lanes(const picture& p, const std::string& prefix) {
    std::string forward, backward, both, update, last;  // last: of the forward half, after the cards of both
    for (std::size_t i = 0; i < p.cards.size(); ++i) {
      const phase part = p.cards[i].part;
      const std::string drawn = article(p.cards[i], prefix + std::to_string(i));
      if (part == phase::backward) backward.insert(0, drawn);  // from the bottom up
      else (part == phase::both ? both : part == phase::update ? update : both.empty() ? forward : last) += drawn;
    }
    const int columns = !p.has_phases ? 1 : update.empty() ? 2 : 3;
    const auto column = [&](const char* place, const std::string& cards) {
      if (!cards.empty()) out_ += std::string("<div class=\"column\" style=\"grid-area:") + place + "\">\n" + cards + "</div>\n";
    };
    out_ += "<div class=\"lanes\" style=\"grid-template-columns:repeat(" + std::to_string(columns) + ",minmax(0,330px))\">\n";
    for (int i = 0; p.has_phases && i < columns; ++i) {
      const char* name = name_of(i == 0 ? phase::forward : i == 1 ? phase::backward : phase::update);
      out_ += std::string("<h2 class=\"") + name + "\" style=\"grid-area:1 / " + std::to_string(i + 1) + "\">" + name + "</h2>\n";
    }
    column("2 / 1", forward);
    column("2 / 2", backward);
    column(p.has_phases ? "3 / 1 / 4 / 3" : "3 / 1", both);
    column("4 / 1", last);
    column("2 / 3 / 5 / 4;justify-content:center", update);
    out_ += "</div>\n";
    add_wires(p, prefix);
  }

  /// One arrow for all values that a card reads from another one.
  void add_wires(const picture& p, const std::string& prefix) {
    for (std::size_t to = 0; to < p.cards.size(); ++to)
      for (std::size_t from = 0; from < p.cards.size(); ++from) {
        const name_list values = values_between(p.cards[to], static_cast<int>(from));
        if (values.empty()) continue;
        std::string label, all;
        for (const std::string& v : values) {
          const std::size_t view = v.find("] ");  // a view is always shown, shapes where the reader points at a card
          if (view != std::string::npos) label += (label.empty() ? "" : "; ") + v.substr(view + 2);
          all += (all.empty() ? "" : "; ") + v;
        }
        wires_ += "<path id=\"w" + std::to_string(wire_count_++) + "\" data-from=\"" + prefix + std::to_string(from) + "\" data-to=\"" + prefix + std::to_string(to) + "\" data-label=\"" +
                  escaped(label) + "\" data-all=\"" + escaped(all) + "\" marker-end=\"url(#tip)\"" + (from > to ? " stroke-dasharray=\"5 4\"" : "") + "/>\n";
      }
  }

  std::string article(const card& c, const std::string& name) {
    const std::string before = std::move(out_);
    out_.clear();
    constexpr const char* classes[] = {"forward", "both", "backward", "update"};
    std::string steps;
    for (const int s : c.steps) steps += (steps.empty() ? "" : " ") + std::to_string(s);
    const bool is_outer = name.find('_') == std::string::npos;  // steps of a body are not those of the chart
    out_ += std::string("<article class=\"card ") + (is_outer ? classes[static_cast<int>(c.part)] : "inner") + "\" id=\"" + name + "\" tabindex=\"0\"" + (is_outer ? " data-steps=\"" + steps + "\"" : "") +
            ">\n<div class=\"kind\"><b>" + steps_text(c) + "</b><span>" + c.kind + "</span>" +
            (c.steps.size() > 1 ? "<span class=\"times\">× " + std::to_string(c.steps.size()) + "</span>" : "") + "</div>\n<div class=\"title\">" + escaped(c.title) +
            "</div>\n<div class=\"cost\">" + cost_text(c) + "</div>\n";
    if (c.seconds > 0 && total_ > 0) {
      char share[32];
      std::snprintf(share, sizeof share, "%.1f", 100 * c.seconds / total_);
      out_ += "<div class=\"bar\"><i style=\"width:" + std::string(share) + "%\"></i></div>\n<div class=\"cost\">" + time_text(c.seconds) + ", " + share + " %";
      if (c.flops > 0) out_ += ", " + with_prefix(static_cast<double>(c.flops) / c.seconds, "FLOP/s");
      if (c.bytes > 0) out_ += ", " + with_prefix(static_cast<double>(c.bytes) / c.seconds, "B/s");
      out_ += "</div>\n";
    }
    out_ += "<div class=\"chips\">";
    const auto chip = [&](const name_group& n, bool is_result) {
      std::string names;
      for (const std::string& name_of_leaf : n.names) names += (names.empty() ? "" : "|") + name_of_leaf;
      out_ += std::string("<span") + (is_result ? " class=\"out\"" : "") + " data-names=\"" + escaped(names) + "\">" + (is_result ? "→ " : "") + escaped(n.label) +
              (n.view.empty() ? "" : " <em>" + escaped(n.view) + "</em>") + "</span>";
    };
    for (const name_group& n : grouped(c.reads)) chip(n, false);
    for (const name_group& n : grouped(c.results)) chip(n, true);
    out_ += "</div>\n";
    for (std::size_t b = 0; b < c.bodies.size(); ++b) {
      out_ += "<div class=\"frame\"><h3>" + c.bodies[b].name + "</h3>\n";
      lanes(c.bodies[b].content, name + (b == 0 ? "a_" : "b_"));
      out_ += "</div>\n";
    }
    out_ += "<ol class=\"nodes\">";
    for (const std::string& line : c.lines) out_ += "<li>" + escaped(line) + "</li>";
    std::string drawn = std::move(out_) + "</ol>\n</article>\n";
    out_ = before;
    return drawn;
  }

  /// The temporary memory: a box for each buffer, from the step that writes it to the last one that reads it, at its place in the workspace.
  void memory(const picture& p) {
    out_ += "<section class=\"panel\"><h2>Temporary memory over the steps</h2>";
    if (p.workspace < 0) {
      out_ += "<p>Its size is known when a call knows its run-time extents.</p></section>\n";
      return;
    }
    if (p.buffers.empty()) {
      out_ += "<p>None: each step reads arguments and writes results.</p></section>\n";
      return;
    }
    constexpr double left = 52, top = 8, width = 312, height = 190;
    const double bytes = static_cast<double>(p.workspace > 0 ? p.workspace : 1), step = width / p.steps;
    constexpr const char* classes[] = {"forward", "both", "backward", "update"};
    std::vector<phase> parts(static_cast<std::size_t>(p.steps), phase::forward);
    for (const card& c : p.cards)
      for (const int s : c.steps) parts[static_cast<std::size_t>(s)] = c.part;
    char box[160];
    const auto place = [&](double x, double y, double w, double h) {
      std::snprintf(box, sizeof box, "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x, y, w, h);
      return std::string(box);
    };
    out_ += "<svg class=\"memory\" viewBox=\"0 0 368 218\">\n";
    out_ += "<line class=\"axis\" x1=\"52\" x2=\"364\" y1=\"198\" y2=\"198\"/><line class=\"axis\" x1=\"52\" x2=\"52\" y1=\"8\" y2=\"198\"/>";
    out_ += "<text x=\"48\" y=\"16\" text-anchor=\"end\">" + with_prefix(bytes, "B") + "</text><text x=\"48\" y=\"198\" text-anchor=\"end\">0</text>\n";
    for (const drawn_buffer& b : p.buffers) {
      const double h = height * static_cast<double>(b.bytes) / bytes, y = top + height - h - height * static_cast<double>(b.offset) / bytes;
      std::string steps;
      for (int s = b.first; s <= b.last; ++s) steps += (steps.empty() ? "" : " ") + std::to_string(s);
      out_ += std::string("<rect class=\"") + classes[static_cast<int>(parts[static_cast<std::size_t>(b.first)])] + (b.is_kept ? " kept" : "") + "\" data-steps=\"" + steps + "\" rx=\"2\" " +
              place(left + step * b.first, y, step * (b.last - b.first + 1), h) + "><title>" + escaped(b.name) + "\n" + with_prefix(static_cast<double>(b.bytes), "B") + ", steps " +
              std::to_string(b.first) + " to " + std::to_string(b.last) + (b.is_kept ? ", kept for the gradient" : "") + "</title></rect>\n";
    }
    const int every = p.steps / 16 + 1;
    for (int s = 0; s < p.steps; ++s) {
      out_ += "<rect class=\"cursor\" data-steps=\"" + std::to_string(s) + "\" pointer-events=\"none\" " + place(left + step * s, top, step, height) + "/>";
      if (s % every == 0) {
        std::snprintf(box, sizeof box, "<text x=\"%.1f\" y=\"212\" text-anchor=\"middle\">%d</text>\n", left + step * (s + 0.5), s);
        out_ += box;
      }
    }
    out_ += "</svg>\n<p>Buffers that are not alive at the same time share bytes." + std::string(p.kept > 0 ? " Outlined: kept for the gradient." : "") + "</p></section>\n";
  }

  const picture_text& text_;
  double total_ = 0;
  std::string out_, wires_;
  int wire_count_ = 0;
};

}  // namespace detail

/// A plan as a page for a browser, in one text: the cards of the steps with their operations, costs and, with `text.times`, their times; the
/// values between them; loops and branches as frames with their bodies; the temporary memory over the steps. The page loads nothing.
template <class Program, class Device>
std::string to_html(plan<Program, Device>, const picture_text& text = {}) {
  const detail::picture p = detail::picture_of<Program, Device>(detail::names_of_program<Program>::get(text.arguments), text.times);
  return detail::html_drawing(text).page(p);
}

/// Writes the page to a file: write_html(plan, "plan.html", {.title = "digits", .arguments = {"w", "x"}, .times = profile(f)(w, x)}). Throws
/// io_error where the file cannot be written.
template <class Program, class Device>
void write_html(plan<Program, Device> p, const std::string& path, const picture_text& text = {}) {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw io_error("tenure: write_html: " + path + ": cannot be opened");
  file << to_html(p, text);
  file.flush();
  if (!file) throw io_error("tenure: write_html: " + path + ": cannot be written");
}

}  // namespace tenure
