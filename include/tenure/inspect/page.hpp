// SPDX-License-Identifier: BSL-1.0
// The style and the script of the page that write_html writes. The browser places the cards by the style; the script draws the arrows
// between them and shows what a card holds.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::detail {

inline constexpr const char* style_of_page = R"css(
:root {
  --ink: #1d2733; --soft: #667085; --line: #d5dbe3; --page: #f5f7fa; --card: #ffffff; --wire: #9aa5b4;
  --forward: #2a6fb0; --both: #7a4fa3; --backward: #b3541e; --update: #2e7d4f; --result: #b42318;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8ee; --soft: #98a2b3; --line: #37414f; --page: #14191f; --card: #1e252e; --wire: #5d6b7d;
    --forward: #6bb0ee; --both: #c29be4; --backward: #f0995f; --update: #6cc58e; --result: #f2857a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 28px; padding: 18px 28px 14px; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
h1 { font-size: 20px; margin: 0; }
header span { color: var(--soft); }
header b { color: var(--ink); font-size: 16px; }
main { display: flex; align-items: flex-start; gap: 28px; padding: 20px 28px 40px; }

.graph { position: relative; flex: 1 1 auto; min-width: 0; }
.wires { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; overflow: visible; z-index: 2; }
.wires path { fill: none; stroke: var(--wire); stroke-width: 1.6; }
.wires text { font-size: 11px; fill: var(--soft); text-anchor: middle; paint-order: stroke; stroke: var(--page); stroke-width: 5px; }
.wires path.lit { stroke: var(--ink); stroke-width: 2.2; }
.wires text.lit { fill: var(--ink); }
.faded { opacity: .18; }
.dense path.far { opacity: .16; }
.dense text.far { display: none; }
.dense path.far.lit { opacity: 1; }
.dense text.far.lit { display: inline; }
.lanes { display: grid; gap: 34px 80px; padding: 0 36px; justify-content: center; }
.lanes > h2 { margin: 0 0 -16px; font-size: 12px; letter-spacing: .08em; text-transform: uppercase; text-align: center; }
.column { display: flex; flex-direction: column; gap: 34px; justify-content: flex-end; }
h2.forward, .forward .kind b { color: var(--forward); }
h2.backward, .backward .kind b { color: var(--backward); }
h2.update, .update .kind b { color: var(--update); }
.both .kind b { color: var(--both); }

.card { position: relative; min-width: 210px; padding: 9px 13px 11px; background: var(--card); outline: none; }
.card { box-shadow: 0 1px 2px #1018280f; }
.card { border: 1px solid var(--line); border-left: 4px solid var(--forward); border-radius: 8px; }
.card.both { border-left-color: var(--both); }
.card.backward { border-left-color: var(--backward); }
.card.update { border-left-color: var(--update); }
.card.inner { border-left-color: var(--wire); }
.card.inner > .kind b { color: var(--soft); }
.card:hover, .card:focus, .card.pinned { box-shadow: 0 0 0 2px var(--wire); }
.kind { display: flex; align-items: flex-start; justify-content: space-between; gap: 14px; font-size: 12px; color: var(--soft); }
.kind span { white-space: nowrap; }
.times { background: var(--ink); color: var(--card); border-radius: 9px; padding: 0 7px; font-weight: 600; }
.title { font-weight: 600; margin: 1px 0 2px; overflow-wrap: anywhere; }
.cost { font-size: 12px; white-space: nowrap; color: var(--soft); font-variant-numeric: tabular-nums; }
.bar { height: 4px; border-radius: 2px; background: var(--line); margin: 5px 0 1px; }
.bar i { display: block; height: 100%; border-radius: 2px; background: var(--soft); }
.chips { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 6px; font-size: 12px; }
.chips span { border: 1px solid currentColor; border-radius: 9px; padding: 0 7px; color: var(--forward); }
.chips span.out { color: var(--result); }
.chips em { font-style: normal; color: var(--soft); }
.chips span.on { background: var(--forward); color: var(--card); }
.chips span.on em { color: inherit; }
.frame { margin-top: 9px; border: 1px dashed var(--line); border-radius: 7px; padding: 4px 10px 10px; background: var(--page); }
.frame h3 { margin: 0 0 4px; font-size: 11px; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
.frame .lanes { padding: 0 22px; gap: 0; justify-content: stretch; grid-template-columns: 1fr !important; }
.frame .column { gap: 20px; }

aside { flex: 0 0 360px; position: sticky; top: 20px; display: grid; gap: 18px; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px 14px; }
.panel h2 { margin: 0 0 8px; font-size: 13px; }
.panel p { margin: 0; color: var(--soft); font-size: 13px; }
.panel ol { list-style: none; margin: 0; padding: 0; max-height: 44vh; overflow: auto; }
.panel ol { font: 12px/1.6 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.panel li { white-space: pre-wrap; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); padding: 1px 0; }
.panel li:last-child { border: 0; }
.nodes { display: none; }
.memory { display: block; width: 100%; }
.memory text { font-size: 10px; fill: var(--soft); }
.memory .axis { stroke: var(--line); }
.memory rect { stroke: var(--card); stroke-width: 1; fill: var(--forward); opacity: .8; }
.memory rect.backward { fill: var(--backward); }
.memory rect.both { fill: var(--both); }
.memory rect.update { fill: var(--update); }
.memory rect.kept { opacity: 1; stroke: var(--ink); }
.memory rect.lit { stroke: var(--ink); stroke-width: 2; opacity: 1; }
.memory rect.cursor { fill: var(--ink); opacity: 0; stroke: none; }
.memory rect.cursor.lit { opacity: .1; stroke: none; }
@media (max-width: 1100px) {
  main { flex-direction: column; align-items: stretch; }
  aside { position: static; flex-basis: auto; }
  .lanes { padding: 0 12px; gap: 30px 40px; }
}
)css";

inline constexpr const char* script_of_page = R"js(
(() => {
  const graph = document.querySelector('.graph'), svg = document.querySelector('.wires'), panel = document.querySelector('#nodes');
  const wires = [...svg.querySelectorAll('path[data-from]')], cards = [...document.querySelectorAll('.card')];
  const idle = panel.innerHTML, by = id => document.getElementById(id);
  const element = name => document.createElementNS('http://www.w3.org/2000/svg', name);

  // Writes the values of an arrow, one on a line.
  function write(text, values) {
    const lines = values.split(/[;,] |(?<=\]) /);
    text.replaceChildren(...lines.map((line, i) => {
      const t = element('tspan');
      t.setAttribute('x', text.dataset.x);
      t.setAttribute('dy', i ? '1.2em' : `${0.35 - 0.6 * (lines.length - 1)}em`);
      t.textContent = line;
      return t;
    }));
  }

  function box(card) {
    const r = card.getBoundingClientRect(), origin = graph.getBoundingClientRect();
    const l = r.left - origin.left, t = r.top - origin.top;
    return { l, t, r: l + r.width, b: t + r.height, x: l + r.width / 2, y: t + r.height / 2, width: r.width };
  }
  // From which side of a card to which side of the other one an arrow goes: straight down or up, across, or around what stands between.
  function way(path) {
    const from = by(path.dataset.from), to = by(path.dataset.to), a = box(from), b = box(to);
    const l = Math.max(a.l, b.l), r = Math.min(a.r, b.r), below = b.t >= a.b - 1, above = b.b <= a.t + 1;
    const found = (kind, sides) => ({ path, from, to, a, b, kind, sides });
    if (r - l <= 40) return found('across', b.x > a.x ? ['right', 'left'] : ['left', 'right']);
    if (!below && !above) return found('around', ['right', 'right']);
    const top = below ? a.b : b.b, bottom = below ? b.t : a.t;
    const is_between = card => {
      if ([from, to].some(end => card.contains(end) || end.contains(card))) return false;
      const k = box(card);
      return k.l < r && k.r > l && k.t >= top - 1 && k.b <= bottom + 1;
    };
    if (!cards.some(is_between)) return found('straight', below ? ['bottom', 'top'] : ['top', 'bottom']);
    return found('around', to.classList.contains('backward') ? ['right', 'right'] : ['left', 'left']);
  }
  // The ends on a side of a card stand in the order of their other ends. Gives the place of each end, from 0 to 1.
  function places(ways) {
    const sides = new Map(), place = new Map();
    for (const w of ways)
      [[w.from, w.b], [w.to, w.a]].forEach(([card, other], end) => {
        const side = w.sides[end], key = card.id + ' ' + side;
        if (!sides.has(key)) sides.set(key, []);
        sides.get(key).push({ id: w.path.id + end, order: side === 'left' || side === 'right' ? other.y : other.x });
      });
    for (const ends of sides.values())
      ends.sort((p, q) => p.order - q.order).forEach((e, i) => place.set(e.id, (i + 1) / (ends.length + 1)));
    return place;
  }
  function curve({ path, a, b, kind, sides }, place) {
    const shares = [place.get(path.id + 0), place.get(path.id + 1)];
    if (kind === 'straight') {  // where the narrower card says
      const [card, share] = a.width <= b.width ? [a, shares[0]] : [b, shares[1]], center = card.x + (share - 0.5) * 0.5 * card.width;
      const x = Math.max(a.l + 8, b.l + 8, Math.min(a.r - 8, b.r - 8, center));
      return sides[0] === 'top' ? `M${x},${a.t} L${x},${b.b}` : `M${x},${a.b} L${x},${b.t}`;
    }
    const end = (card, side, share) => [side === 'left' ? card.l : card.r, card.t + share * (card.b - card.t)];
    const [x, y] = end(a, sides[0], shares[0]), [u, v] = end(b, sides[1], shares[1]);
    const out = kind === 'across' ? Math.max(30, Math.abs(u - x) / 2) : Math.min(60, 24 + Math.abs(v - y) / 12);
    const direction = side => side === 'left' ? -out : out;
    return `M${x},${y} C${x + direction(sides[0])},${y} ${u + direction(sides[1])},${v} ${u},${v}`;
  }
  function draw() {
    const ways = wires.map(way), place = places(ways);
    svg.querySelectorAll('text').forEach(t => t.remove());
    for (const w of ways) {
      w.path.setAttribute('d', curve(w, place));
      w.path.classList.toggle('far', w.kind !== 'straight');
      const middle = w.path.getPointAtLength(w.path.getTotalLength() / 2), text = element('text');
      text.setAttribute('y', middle.y);
      text.classList.toggle('far', w.kind !== 'straight');
      Object.assign(text.dataset, { wire: w.path.id, x: middle.x, label: w.path.dataset.label, all: w.path.dataset.all });
      write(text, w.path.dataset.label);
      svg.append(text);
    }
    graph.classList.toggle('dense', ways.length > 30);  // then most arrows show where the reader points at a card
    document.documentElement.dataset.drawn = ways.length;
  }

  // Shows what belongs to a card, or to none.
  function show(card) {
    const split = e => e.dataset.names.split('|'), chips = [...document.querySelectorAll('[data-names]')];
    const names = new Set(chips.filter(e => card && card.contains(e)).flatMap(split));
    chips.forEach(e => e.classList.toggle('on', split(e).some(n => names.has(n)) && !e.classList.contains('out')));
    const steps = new Set(card && card.dataset.steps ? card.dataset.steps.split(' ') : []);
    document.querySelectorAll('.memory rect').forEach(r => r.classList.toggle('lit', r.dataset.steps.split(' ').some(s => steps.has(s))));
    for (const path of wires) {
      const is_lit = !!card && [path.dataset.from, path.dataset.to].some(id => card.contains(by(id)));
      for (const e of [path, ...svg.querySelectorAll(`text[data-wire="${path.id}"]`)]) {
        e.classList.toggle('lit', is_lit);
        e.classList.toggle('faded', !!card && !is_lit);
        if (e !== path) write(e, is_lit ? e.dataset.all : e.dataset.label);
      }
    }
    const nodes = card && card.querySelector(':scope > .nodes');
    panel.innerHTML = nodes ? `<h2>${card.querySelector('.kind b').textContent}</h2><ol>${nodes.innerHTML}</ol>` : idle;
  }
  let pinned = null;
  function pin(card) {
    if (pinned) pinned.classList.remove('pinned');
    pinned = pinned === card ? null : card;
    if (pinned) pinned.classList.add('pinned');
    show(pinned);
  }
  for (const card of cards) {
    card.addEventListener('mouseover', e => { e.stopPropagation(); show(card); });
    card.addEventListener('mouseout', () => show(pinned));
    card.addEventListener('focus', () => show(card));
    card.addEventListener('click', e => { e.stopPropagation(); pin(card); });
  }
  function redraw() {
    draw();
    show(pinned);
  }
  addEventListener('resize', redraw);
  addEventListener('load', redraw);
  draw();
  const step = location.hash.match(/^#step=(\d+)$/);  // plan.html#step=3
  const chosen = step && cards.find(c => (c.dataset.steps || '').split(' ').includes(step[1]));
  if (chosen) pin(chosen);
})();
)js";

}  // namespace tenure::detail
