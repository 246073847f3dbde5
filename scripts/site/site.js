// SPDX-License-Identifier: BSL-1.0
// The search field: names and headings that contain what is typed; those that begin with it come first. `/` goes to the field, arrows and
// Enter choose.
const field = document.getElementById("search"), list = document.getElementById("found"), most = 20;
let chosen = -1;

function choose(n) {
  const links = list.querySelectorAll("a");
  links.forEach(link => link.classList.remove("chosen"));
  chosen = links.length ? (n + links.length) % links.length : -1;
  if (chosen >= 0) { links[chosen].classList.add("chosen"); links[chosen].scrollIntoView({ block: "nearest" }); }
}

function show() {
  const wanted = field.value.trim().toLowerCase().replace(/^tn::/, "");
  const rank = text => { const at = text.toLowerCase().indexOf(wanted); return at < 0 ? 9 : text.length === wanted.length ? 0 : at === 0 ? 1 : 2; };
  const hits = wanted ? found_in_site.map(entry => [rank(entry[0]), entry]).filter(hit => hit[0] < 9).sort((a, b) => a[0] - b[0]).slice(0, most) : [];
  list.replaceChildren(...hits.map(([, [text, where, path]]) => {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
    link.href = field.dataset.root + "/" + path;
    small.textContent = where;
    link.append(text, small);
    item.append(link);
    return item;
  }));
  list.hidden = hits.length === 0;
  choose(0);
}

field.addEventListener("input", show);
field.addEventListener("focus", show);
field.addEventListener("blur", () => setTimeout(() => { list.hidden = true; }, 200));
field.addEventListener("keydown", event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") { choose(chosen + (event.key === "ArrowDown" ? 1 : -1)); event.preventDefault(); }
  else if (event.key === "Enter" && chosen >= 0) { list.querySelectorAll("a")[chosen].click(); field.blur(); }
  else if (event.key === "Escape") field.blur();
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { field.focus(); event.preventDefault(); }
});
