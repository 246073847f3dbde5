#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Builds the documentation as a site: site.py DIR.

Pages: the README, the chapters in docs/, the reference (reference.py) and each file of the tree that one of them links to. Law: every link
leads to a page and every anchor to an id of it, or the program fails and names them. Anchors are those of GitHub, where the chapters are read
too.
"""

import html, json, re, shutil, sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

try:
    from markdown_it import MarkdownIt
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import CppLexer, TextLexer, get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound
except ImportError as missing:
    print(f"site.py: {missing}: scripts/site.sh installs it")
    sys.exit(77)  # ctest: skipped

import reference

root = reference.root
chapters = sorted((path.stem for path in (root / "docs").glob("[0-9]*.md")), key=lambda stem: int(stem.split("-")[0]))
bases = ["elements", "views", "copies", "roles", "writes", "gradients"]  # of tensor: one folder member a job
of_other_types = {"ops/number.hpp", "optim/rule.hpp", "transform/tree_map.hpp"}  # their overloads of a name come after those for tensors
formatter = HtmlFormatter(nowrap=True)


def slug(title, used):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
    n = used.get(text, 0)
    used[text] = n + 1
    return f"{text}-{n}" if n else text


def name_anchor(name):
    """The anchor of a public name: operators have no letters."""
    return re.sub(r"operator([^\w].*)", lambda m: "operator-" + "-".join(str(ord(c)) for c in m[1]), name).replace("::", ".")


def colored(code, language):
    try:
        lexer = get_lexer_by_name(language) if language else TextLexer()
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(code, lexer, formatter)


class Page:
    def __init__(self, path, title, body, headings, source):
        self.path, self.title, self.body, self.headings, self.source = path, title, body, headings, source


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.pages = {}  # path in the site -> Page
        self.sources = []  # files of the tree that pages link to and that have no page yet
        self.files = {}  # files that are copied: path in the tree -> path in the site
        self.sections, wrong = reference.sections()
        if wrong:
            raise SystemExit("\n".join(wrong))
        self.section_pages = {section: f"reference/{slug(section, {})}.html" for section in self.sections}
        self.places = {}  # a public name -> the page and anchor of its entry
        for section, names in self.sections.items():
            for name in names:
                self.places.setdefault(name, f"{self.section_pages[section]}#{name_anchor(name)}")

    # ---- Markdown -----------------------------------------------------------------------------------

    def page_of(self, source):
        """The path in the site of a file of the tree."""
        if source == "README.md":
            return "index.html"
        if source.startswith("docs/") and source.endswith(".md"):
            return source.removeprefix("docs/").removesuffix(".md") + ".html"
        if source.endswith((".svg", ".png", ".html")):
            return self.files.setdefault(source, source.removeprefix("docs/"))
        if source not in self.sources:
            self.sources.append(source)
        return "tree/" + source + ".html"

    def link(self, href, source):
        """A link of a Markdown file as a link of its page."""
        if re.match(r"[a-z]+:", href):
            return href
        target, _, anchor = href.partition("#")
        path = source if not target else normpath(str(PurePosixPath(source).parent / target))
        if not (root / path).exists():
            raise SystemExit(f"{source}: {href}: there is no such file")
        if (root / path).is_dir():
            raise SystemExit(f"{source}: {href}: is a folder: link to a file")
        to = relpath(self.page_of(path), str(PurePosixPath(self.page_of(source)).parent))
        return to + ("#" + anchor if anchor else "")

    def markdown(self, source):
        here = self.page_of(source)
        parser = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
        tokens = parser.parse((root / source).read_text())
        headings, used, title = [], {}, None
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                text = "".join(t.content for t in tokens[i + 1].children if t.type in ("text", "code_inline", "softbreak"))
                token.attrSet("id", slug(text, used))
                title = title or text
                headings.append((int(token.tag[1]), text, token.attrGet("id")))
            elif token.type == "inline":
                in_link = False
                for child in token.children:
                    in_link = child.type == "link_open" or in_link and child.type != "link_close"
                    if child.type == "link_open":
                        child.attrSet("href", self.link(child.attrGet("href"), source))
                    elif child.type == "image":
                        child.attrSet("src", self.link(child.attrGet("src"), source))
                    elif child.type == "code_inline" and not in_link and tokens[i - 1].type != "heading_open":
                        child.meta = {"place": self.place_of_code(child.content)}

        def code_inline(self_, tokens, index, options, env):
            code = f"<code>{html.escape(tokens[index].content)}</code>"
            place = tokens[index].meta.get("place")
            return f'<a class="name" href="{relpath(place, str(PurePosixPath(here).parent))}">{code}</a>' if place else code

        def fence(self_, tokens, index, options, env):
            language = tokens[index].info.strip()
            return f'<pre class="{language or "text"}"><code>{colored(tokens[index].content, language)}</code></pre>\n'

        def table_open(self_, tokens, index, options, env):
            return '<div class="table"><table>\n'

        def table_close(self_, tokens, index, options, env):
            return "</table></div>\n"

        for rule in (code_inline, fence, table_open, table_close):
            parser.add_render_rule(rule.__name__, rule)
        body = parser.renderer.render(tokens, parser.options, {})
        return Page(here, title or source, body, headings, source)

    def place_of_code(self, code):
        """Where a name in the text of a chapter is described: `tn::vmap`, `tn::vmap(f)`."""
        match = re.match(r"tn::((?:\w+::)*\w+)", code)
        return self.places.get(match[1]) if match else None

    # ---- the reference ------------------------------------------------------------------------------

    def prose(self, doc, here, own):
        """A docstring as HTML: code in backticks, and names of the reference as links."""

        def with_links(text):
            def linked(match):
                name = match[0]
                is_call = "_" in name or text[match.end() : match.end() + 1] in ("(", "<")
                if (
                    name not in self.places
                    or name in own
                    or not is_call
                    or text[max(0, match.start() - 1) : match.start()] in (".", "/", "<")
                ):
                    return name
                return f'<a href="{relpath(self.places[name], str(PurePosixPath(here).parent))}">{name}</a>'

            parts, at = [], 0
            for match in re.finditer(r"[A-Za-z_]\w*", text):
                parts += [html.escape(text[at : match.start()]), linked(match)]
                at = match.end()
            return "".join(parts) + html.escape(text[at:])

        paragraphs = re.split(r"\n\s*\n", doc)
        pieces = []
        for paragraph in paragraphs:
            halves = re.split(r"`([^`]+)`", paragraph)
            pieces.append(
                "<p>" + "".join(f"<code>{html.escape(h)}</code>" if i % 2 else with_links(h) for i, h in enumerate(halves)) + "</p>"
            )
        return "\n".join(pieces)

    def signature(self, declaration):
        """The declaration as it stands in the header, without what only the compiler reads."""
        head, rest = reference.without_template(declaration.text)
        if declaration.kind == "class":  # without its bases
            rest = re.sub(r"(?<!:):(?!:).*", "", rest).strip()
        if declaration.kind == "type":
            rest = re.sub(r"\s*=.*", "", rest, flags=re.S)
        if declaration.kind == "value":
            rest = re.sub(r"\s*(=|\{).*", "", rest, flags=re.S)
            rest = re.sub(r"^.*\bdetail::.*\s", "auto ", rest)
        if declaration.kind == "function":
            rest = re.sub(r"\s*(= default|= delete|noexcept\b.*)$", "", rest)
        if declaration.kind == "concept" and "detail::" in rest:
            rest = re.sub(r"\s*=.*", "", rest, flags=re.S)
        head = f'<span class="head">{colored(head, "cpp").strip()}</span>\n' if head else ""
        return f'<span class="signature">{head}{colored(rest, "cpp").strip()}</span>'

    def entries(self, declarations):
        """Declarations that share a docstring, in the order of the first: [(docstring, [declaration])]."""
        groups = {}
        for declaration in declarations:
            groups.setdefault((declaration.header, declaration.doc), []).append(declaration)
        return [(doc, group) for (_, doc), group in groups.items()]

    def include_of(self, header):
        """The header that a program includes for a name."""
        by_name = header.startswith("interop/") or header == "optim/groups.hpp"
        if "/" not in header or by_name:
            return header
        single = {"inspect/profile.hpp": "profile.hpp",
            "inspect/debug_nans.hpp": "debug_nans.hpp",
            "optim/debug_nans.hpp": "debug_nans.hpp", "eager/debug_nans.hpp": "debug_nans.hpp",
            "inspect/html.hpp": "picture.hpp",
            "inspect/dot.hpp": "picture.hpp",
            "inspect/picture.hpp": "picture.hpp", "optim/profile.hpp": "profile.hpp", "storage/cuda/stream.hpp": "cuda.hpp"}
        if header == "distributed/nccl.hpp":
            return "nccl.hpp"
        return "mpi.hpp" if header.startswith("distributed/") else single.get(header, "tenure.hpp")

    def members(self, declaration, here):
        shown = [m for m in declaration.members if m.doc and "~" not in m.text and not reference.holds_a_message(m)]
        # Fields without a docstring belong to an aggregate: adam{.learning_rate = 1e-3}.
        fields = [
            m
            for m in declaration.members
            if not m.doc and m.kind == "value" and not m.is_static and "(" not in m.text and not declaration.text.startswith("template")
        ]
        parts = []
        if fields:
            parts.append('<pre class="cpp"><code>' + "\n".join(colored(f"{m.text};" + (f"  // {m.remark}" if m.remark else ""), "cpp").strip() for m in fields) + "</code></pre>")
        for doc, group in self.entries(shown):
            signatures = "".join(dict.fromkeys(self.signature(m) for m in group))
            parts.append(
                '<div class="member"><pre class="cpp"><code>'
                + signatures
                + "</code></pre>"
                + self.prose(doc, here, {m.name for m in group})
                + "</div>"
            )
        return "\n".join(parts)

    def section(self, section):
        here = self.section_pages[section]
        by_doc = {}  # names that share a docstring are described together
        for name, declarations in self.sections[section].items():
            for doc, group in self.entries(declarations):
                by_doc.setdefault((group[0].header, doc), []).append((name, group))
        # Entries stand in the order of a header, in which a docstring may speak of the one before it; headers in the order of the exported names.
        headers = list(
            dict.fromkeys(d.header for found in self.sections[section].values() for d in found if d.header not in of_other_types)
        )

        def place(item):
            first = item[1][0][1][0]
            return headers.index(first.header) if first.header in headers else len(headers), first.header, first.line

        entries, entry_of = (
            [],
            {},
        )  # an entry: its names, and its blocks of declarations with one docstring. Overloads of a name join its first entry.
        for (_, doc), named in sorted(by_doc.items(), key=place):
            known = [entry_of[name] for name, _ in named if name in entry_of]
            if not known:
                entries.append(([], []))
            entry = known[0] if known else entries[-1]
            for name, _ in named:
                if name not in entry_of:
                    entry[0].append(name)
                    entry_of[name] = entry
            entry[1].append((doc, [d for _, group in named for d in group]))

        parts, headings = [], [(1, section, "top")]
        for names, blocks in entries:
            title = ", ".join(names)
            headings.append((2, title, name_anchor(names[0])))
            header = self.include_of(blocks[0][1][0].header)
            anchors = "".join(f'<a id="{name_anchor(name)}"></a>' for name in names)
            body = [f'<section class="entry">{anchors}<h2><span>{html.escape(title)}</span> <small>&lt;tenure/{header}&gt;</small></h2>']
            for doc, declarations in blocks:
                # Overloads that differ in nothing that is shown stand once.
                body.append('<pre class="cpp"><code>' + "".join(dict.fromkeys(self.signature(d) for d in declarations)) + "</code></pre>")
                if doc:
                    body.append(self.prose(doc, here, set(names)))
                for declaration in declarations:
                    if declaration.kind == "class":
                        body.append(self.members(declaration, here))
                    if declaration.name == "tensor" and declaration.kind == "class":
                        for base in bases:
                            found = self.all_declarations().get("tensor_" + base, [])
                            body.append(f"<h3>{base.capitalize()}</h3>" + "".join(self.members(d, here) for d in found))
            parts.append("\n".join(body) + "</section>")
        body = f'<h1 id="top">{html.escape(section)}</h1>\n' + "\n".join(parts)
        return Page(here, section, body, headings, None)

    def all_declarations(self):
        if not hasattr(self, "_declarations"):
            self._declarations = reference.declarations()
        return self._declarations

    def index(self):
        """All names, by section and by letter."""
        rows = []
        for section, names in self.sections.items():
            page = relpath(self.section_pages[section], "reference")
            links = ", ".join(f'<a href="{relpath(self.places[n], "reference")}">{html.escape(n)}</a>' for n in names)
            rows.append(f'<h2 id="{slug(section, {})}"><a href="{page}">{html.escape(section)}</a></h2><p class="names">{links}</p>')
        count = len(self.places)
        intro = (
            f"<p>The {count} public names of the namespace <code>tenure</code> (<code>tn</code> in the chapters), by topic. The text is that of the "
            "headers, where it stands at the declaration.</p>"
        )
        headings = [(1, "Reference", "top")] + [(2, s, slug(s, {})) for s in self.sections]
        return Page("reference/index.html", "Reference", '<h1 id="top">Reference</h1>' + intro + "\n".join(rows), headings, None)

    def source_page(self, source):
        path = root / source
        if source.endswith(".md"):
            return self.markdown(source)
        try:
            lexer = get_lexer_for_filename(source)
        except ClassNotFound:
            lexer = TextLexer()
        text = path.read_text()
        shown = highlight(
            text if len(text) < 200_000 else "\n".join(text.split("\n")[:100]) + "\n...\n",
            CppLexer() if source.endswith(".cu") else lexer,
            formatter,
        )
        return Page(
            "tree/" + source + ".html", source, f'<h1 id="top">{source}</h1><pre class="cpp"><code>{shown}</code></pre>', [], source
        )

    # ---- writing ------------------------------------------------------------------------------------

    def navigation(self, page):
        up = str(PurePosixPath(page.path).parent)

        def item(path, title):
            current = ' aria-current="page"' if path == page.path else ""
            return f'<li><a href="{relpath(path, up)}"{current}>{html.escape(title)}</a></li>'

        def titled(name):
            return item(f"{name}.html", self.pages[f"{name}.html"].title)

        others = sorted(p.stem for p in (root / "docs").glob("*.md") if p.stem not in chapters)
        return (
            f'<ul>{item("index.html", "Tenure")}</ul><h2>Chapters</h2><ol>{"".join(titled(c) for c in chapters)}</ol>'
            f'<h2>More</h2><ul>{"".join(titled(o) for o in others)}</ul>'
            f'<h2>Reference</h2><ul>{item("reference/index.html", "All names")}{"".join(item(p, s) for s, p in self.section_pages.items())}</ul>'
        )

    def write(self):
        self.pages["index.html"] = self.markdown("README.md")
        for path in sorted((root / "docs").glob("*.md")):
            page = self.markdown(str(path.relative_to(root)))
            self.pages[page.path] = page
        for section in self.sections:
            page = self.section(section)
            self.pages[page.path] = page
        self.pages["reference/index.html"] = self.index()
        while missing := [s for s in self.sources if "tree/" + s + ".html" not in self.pages]:
            for source in missing:
                page = self.source_page(source)
                self.pages[page.path] = page

        shutil.rmtree(self.folder, ignore_errors=True)
        template = (root / "scripts/site/page.html").read_text()
        for page in self.pages.values():
            up = relpath(".", str(PurePosixPath(page.path).parent))
            levels = 3 if page.source else 2
            toc = "".join(
                f'<li class="level{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
                for level, text, anchor in page.headings
                if 1 < level <= levels
            )
            text = template
            for key, value in {
                "title": html.escape(page.title),
                "root": up,
                "navigation": self.navigation(page),
                "toc": f"<h2>On this page</h2><ul>{toc}</ul>" if toc else "",
                "body": page.body,
            }.items():
                text = text.replace("{{" + key + "}}", value)
            target = self.folder / page.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for source, target in self.files.items():
            (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / source, self.folder / target)
        for name in ("site.css", "site.js"):
            shutil.copyfile(root / "scripts/site" / name, self.folder / name)
        with (self.folder / "site.css").open("a") as css:
            css.write(HtmlFormatter(style="friendly").get_style_defs("pre"))
            css.write("\n@media (prefers-color-scheme: dark) {\n" + HtmlFormatter(style="github-dark").get_style_defs("pre") + "\n}\n")
        found = [[name, "tn::" + name, place] for name, place in self.places.items()]
        for page in self.pages.values():
            if page.source and not page.path.startswith("tree/"):
                found += [[text, page.title, page.path + "#" + anchor] for level, text, anchor in page.headings if level < 4]
        (self.folder / "search.js").write_text("const found_in_site = " + json.dumps(found, ensure_ascii=False) + ";\n")


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.targets, self.twice = set(), [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.twice.append(attributes["id"])
            self.ids.add(attributes["id"])
        self.targets += [attributes[key] for key in ("href", "src") if attributes.get(key) is not None]


def check_links(folder):
    """A list of what leads nowhere in the pages of a folder."""
    pages, wrong, links = {}, [], 0
    for path in folder.rglob("*.html"):
        parsed = Links()
        parsed.feed(path.read_text())
        pages[path.resolve()] = parsed
        wrong += [f"{path.relative_to(folder)}: two elements have the id {name}" for name in parsed.twice]
    for path, parsed in pages.items():
        for target in parsed.targets:
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            file, _, anchor = target.partition("#")
            to = (path.parent / file).resolve() if file else path
            if not to.is_file():
                wrong.append(f"{path.relative_to(folder)}: {target}: there is no such page")
            elif anchor and to in pages and anchor not in pages[to].ids:
                wrong.append(f"{path.relative_to(folder)}: {target}: the page has no such anchor")
    return wrong, links, len(pages)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    site = Site(folder)
    site.write()
    wrong, links, pages = check_links(folder)
    for line in wrong:
        print(line)
    print(f"{folder}: {pages} pages, {len(site.places)} names, {links} links, {len(wrong)} of them lead nowhere")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
