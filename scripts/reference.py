#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Reads the public names of Tenure and their docstrings (///) from the headers.

    scripts/reference.py            checks that each public name has a docstring, that each tn:: name of the chapters and of the examples is
                                    public, and so is each type that a public function takes
    scripts/reference.py NAME...    prints what the reference says about names

The public names are those that include/tenure/tenure.cppm exports, and those of the headers in `further` below. A docstring belongs
to the declarations below it, up to a blank line or another comment. scripts/site.py makes pages of this.
"""

import re, sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
module_file = root / "include/tenure/tenure.cppm"

# Headers that the module leaves out, because programs include them beside other libraries: their documented names are public.
further = {
    "Files, Eigen, DLPack, mdspan, Ceres": ["interop/*.hpp", "interop/ceres/*.hpp"],
    "GPUs": ["storage/cuda/stream.hpp"],
    "Many processes": ["distributed/*.hpp"],
}
other_names = {
    "tenure",
    "large_programs",
    "mpi",
    "nccl",
    "ceres",
    "module",
    "v300",
    "v300::avx2",
    "lazy",
    "dlpack",
}  # CMake targets, a namespace of an example, a type in a message, and the parts of DLPack's structs
# Types that public functions take and other public functions make, so that a program does not name them.
made_by_functions = {"traced", "compiled", "trainer", "after_error"}
namespaces_of_detail = {"detail", "ops", "ir", "passes", "math", "backend", "kernels", "number", "TENURE_LANES"}


class Declaration:
    """One declaration: its name and namespace, its text without the body, its docstring, and the members of a class."""

    def __init__(self, name, kind, scope, text, doc, members, header, line):
        self.name, self.kind, self.scope, self.text, self.doc = name, kind, scope, text, doc
        self.members, self.header, self.line = members, header, line
        self.is_static = False
        self.remark = ""  # what stands behind it, after ///<

    @property
    def qualified(self):
        return "::".join(self.scope + [self.name])


def end_of(text, at):
    """The position behind the bracket, string or comment that opens at `at`; at + 1 where nothing opens."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        return text.index("*/", at) + 2
    c = text[at]
    if c == '"' or (c == "'" and not text[at - 1].isalnum()):
        end = at + 1
        while text[end] != c:
            end += 2 if text[end] == "\\" else 1
        return end + 1
    if c in pairs:
        at += 1
        while text[at] != pairs[c]:
            at = end_of(text, at)
        return at + 1
    return at + 1


def angles_end(text, at):
    """The position behind the > of the < at `at`, of a template head."""
    depth = 0
    while True:
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and text[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at + 1
        at = end_of(text, at) if text[at] in "([{\"'" else at + 1


def without_template(text):
    """(the template heads, the rest) of a declaration."""
    at = 0
    while match := re.compile(r"\s*template\s*(?=<)").match(text, at):
        at = angles_end(text, match.end())
    return text[:at].strip(), text[at:].strip()


def skip_brackets(text, at):
    """Like end_of, for the text of a declaration: also a template argument list, where one can open."""
    if text[at] == "<" and at > 0 and re.match(r"[\w]", text[at - 1]) and not text[:at].endswith("operator"):
        try:
            return angles_end(text, at)
        except IndexError:
            return at + 1
    return end_of(text, at)


def name_of(text):
    """(kind, name) of a declaration, or (None, None)."""
    head, rest = without_template(text)
    rest = re.sub(r"\[\[.*?\]\]\s*", "", rest).removeprefix('extern "C"').lstrip()
    if match := re.match(r"(?:class|struct|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)", rest):
        return "class", match[1]
    if match := re.match(r"enum\s+(?:class\s+)?(\w+)", rest):
        return "enum", match[1]
    if match := re.match(r"concept\s+(\w+)", rest):
        return "concept", match[1]
    if match := re.match(r"using\s+(\w+)\s*=", rest):
        return "type", match[1]
    if match := re.match(r"using detail::(\w+)$", rest.rstrip(";")):  # a name of detail that is public too
        return "function", match[1]
    if re.match(r"(using|friend|static_assert|extern|typedef|namespace)\b", rest):
        return None, None
    if match := re.search(r"\b(operator\s*(?:\(\)|\[\]|[^\w\s(]+|\s\w+))\s*\(", rest):
        return "function", re.sub(r"\s", "", match[1])
    at = 0
    while at < len(rest):
        if match := re.compile(r"(requires|decltype|noexcept|explicit|alignas|__attribute__)\s*(?=\()").match(rest, at):
            at = end_of(rest, match.end())
        elif match := re.compile(r"~?[A-Za-z_]\w*").match(rest, at):
            at = match.end()
            if rest[at : at + 1] == "(":
                return "function", match[0]
            if re.compile(r"\s*(?:=(?!=)|;|\{|$)").match(rest, at):
                return "value", match[0]
        else:
            at = skip_brackets(rest, at)
    return None, None


def opens_requires_expression(before):
    """Whether the { behind this text opens the body of a requires-expression."""
    keyword = before.rfind("requires")
    if keyword < 0:
        return False
    rest = before[keyword + len("requires") :].strip()
    return not rest or rest[0] == "(" and end_of(rest, 0) == len(rest)


def read_declarations(text, header, first_line=1, scope=(), in_class=None):
    """Yields the public declarations of a header, or of the body of a class."""
    at, doc, newlines, last = 0, None, 0, None
    is_public = in_class != "class"
    opened = []  # the namespaces around `at`, one list for each brace

    def line():
        return first_line + text.count("\n", 0, at)

    while at < len(text):
        c = text[at]
        if c in " \t\n":
            newlines += c == "\n"
            if newlines > 1:
                doc = None
            at += 1
            continue
        newlines = 0
        if text.startswith("///<", at):  # of the declaration before it, on the same line
            end = end_of(text, at)
            if last:
                last.remark = text[at + 4 : end].strip()
            at = end
            continue
        if text.startswith("//", at):
            lines = []
            is_doc = text.startswith("///", at)
            while match := re.compile(r"[ \t]*(//[^\n]*)\n?").match(text, at):
                if match[1].startswith("///") != is_doc:
                    break
                lines.append(match[1].removeprefix("///").removeprefix(" "))
                at = match.end()
            doc = "\n".join(lines).strip() if is_doc else None
            continue
        if c == "#" or text.startswith("TENURE_WARNINGS_", at):  # a macro that is a #pragma
            match = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, at)
            at = match.end()
            continue
        if c == "}":
            opened.pop()
            at += 1
            continue
        if match := re.compile(r"(?:inline\s+)?namespace\s+((?:[\w:]|inline |\(\w+\))*?)\s*\{").match(text, at):
            opened.append([part for part in re.split(r"::|\(.*", match[1]) if part])
            at = match.end()
            continue
        if match := re.compile(r"(public|private|protected)\s*:(?!:)").match(text, at):
            is_public, doc, at = match[1] == "public", None, match.end()
            continue
        if match := re.compile(r"consteval\s*(?=\{)").match(text, at):  # a block of C++26
            at, doc = end_of(text, match.end()), None
            continue
        # A declaration: up to a ; or the } of a body.
        begin, started, body = at, line(), None
        while text[at] != ";":
            if text[at] == "{":
                before = text[begin:at]
                if opens_requires_expression(before):
                    at = end_of(text, at)
                    continue
                head = without_template(before)[1]
                is_type = re.match(r"(\[\[.*?\]\]\s*)?(class|struct|union|enum)\b", head)
                starts_initializer = re.search(r"\)\s*(noexcept\s*)?:[^:].*[\w>]$", head, re.S) and not before.endswith(" ")
                is_function = name_of(re.sub(r"\bfriend\b", "", before))[0] == "function"
                body = body or (at, end_of(text, at))
                at = end_of(text, at)
                if starts_initializer:
                    body = None
                elif is_function and not is_type:
                    break
                continue
            at = end_of(text, at) if text[at] in "([\"'/" else at + 1
        else:
            at += 1
        end_of_text = body[0] if body else at
        declared = text[begin:end_of_text]
        kind, name = name_of(declared)
        inside = [part for parts in opened for part in parts]
        is_hidden = any(part in namespaces_of_detail - {"detail"} for part in inside) or not is_public
        if name is None or is_hidden:
            continue
        namespaces = [
            part for part in list(scope) + inside if part not in ("TENURE_NAMESPACE", "tenure") and not part.startswith("inline ")
        ]
        members = []
        if kind == "class" and body and in_class is None:
            key = "struct" if re.search(r"\bstruct\b", without_template(declared)[1][:40]) else "class"
            inner = text[body[0] + 1 : body[1] - 1]
            members = list(read_declarations(inner, header, first_line + text.count("\n", 0, body[0]), (), key))
        if kind == "enum" and body:
            declared += text[body[0] : body[1]]
        declaration = Declaration(name, kind, namespaces, clean(declared), doc, members, header, started)
        last = declaration
        declaration.is_static = bool(re.search(r"\bstatic\b", declared[:60]))
        yield declaration


def clean(declared):
    """The text of a declaration as a reader needs it."""
    text = re.sub(r"//[^\n]*", "", declared)
    text = re.sub(r"\s+", " ", text).strip().rstrip(";{").strip()
    text = re.sub(
        r"\[\[[^\]]*\]\]\s*|\bTENURE_\w+\s+|\b(inline|constexpr|static|explicit) (?!\()|\binline\b\s*|explicit\((?:[^()]|\([^()]*\))*\)\s*",
        "",
        text,
    )
    while match := re.search(r"\brequires\s*(?=\()", text):  # what an overload asks of its arguments is for the compiler
        text = text[: match.start()] + text[end_of(text, match.end()) :]
    text = re.sub(r"\brequires is_\w+\s*", "", text)
    text = re.sub(r"\brequires [\w:]+<[^<>]*(<[^<>]*>)?[^<>]*>\s*", "", text)
    head, rest = without_template(re.sub(r"\s+", " ", text))
    if re.match(r"\w+\(", rest):  # a constructor: without its initializers
        rest = rest[: end_of(rest, rest.index("("))]
    text = f"{head} {rest}"
    return re.sub(r"\s+", " ", text).replace("( ", "(").strip()


def exported():
    """{section: [names]} of the module file, in its order. A name may be qualified: optim::adam."""
    sections, section, scope = {}, None, []
    for text in module_file.read_text().split("\n"):
        if match := re.match(r"// ---- (.*?) -*$", text):
            section = sections.setdefault(match[1], [])
        elif match := re.match(r"(?:export )?namespace ([\w:]+) \{", text):
            scope.append(match[1].removeprefix("tenure").removeprefix("::"))
        elif text.startswith("}"):
            scope.pop()
        for match in re.finditer(r"using (?:tenure::)([\w:]*?(?:operator[^\s;]+|\w+));", text):
            section.append(match[1])
    return sections


folder = root / "include/tenure"


def declarations():
    """{qualified name: [declarations]} of all headers."""
    by_name = {}
    for path in sorted(folder.rglob("*.hpp")):
        header = str(path.relative_to(folder))
        try:
            found = list(read_declarations(path.read_text(), header))
        except IndexError as error:
            raise SystemExit(f"reference.py: {header}: brackets do not match") from error
        for declaration in found:
            by_name.setdefault(declaration.qualified, []).append(declaration)
    return by_name


def reached(path, seen):
    """Adds the header, and those of Tenure that it includes, to `seen`."""
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'^#include [<"]([^>"]+)[>"]', path.read_text(), re.M):
        for place in (folder.parent / name, path.parent / name):
            if place.is_file():
                reached(place.resolve(), seen)


def taken(declaration):
    """The text of the parameters of a function."""
    rest = without_template(declaration.text)[1]
    match = re.search(re.escape(declaration.name) + r"\s*(?=\()", rest)
    return rest[match.end() : end_of(rest, match.end())] if declaration.kind == "function" and match else ""


def types_to_export(by_name, names):
    """(name, type): what a public function takes, and a program makes with braces, so that it has to be public too."""
    values = {type_name for name in names for d in by_name.get(name, []) if d.kind == "value" for type_name in re.findall(r"\w+", d.text)}
    for name in names:
        for declaration in by_name.get(name, []):
            if holds_a_message(declaration) or "detail" in declaration.scope:
                continue
            for used in re.findall(r"(?<![\w:])(\w+)\b(?!::)", taken(declaration)):
                found = next((one for one in ("::".join([*declaration.scope, used]), used) if one in by_name), None)
                if found and found not in names and by_name[found][0].kind in ("class", "enum") and used not in values | made_by_functions:
                    yield name, by_name[found][0]


def holds_a_message(declaration):
    """Whether it is there only to refuse a call in our words."""
    return (declaration.doc or "").startswith(("Does not compile", "These do not compile"))


def documented(found):
    """The declarations that the reference shows: those with a docstring, and of a class without one, its members."""
    shown = [d for d in found if d.doc or any(m.doc for m in d.members)]
    shown = [d for d in shown if not (d.kind == "function" and any(c.kind == "class" for c in found))]  # deduction guides
    return [d for d in shown if not holds_a_message(d)] or shown


def sections():
    """{section: {qualified name: [declarations with docstrings]}}, and a list of what is wrong."""
    by_name, wrong, result, seen = declarations(), [], {}, set()
    reached(module_file, seen)
    of_module = {str(path.relative_to(folder)) for path in seen}
    for section, names in exported().items():
        shown = result.setdefault(section, {})
        for name in names:
            shown[name] = documented(by_name.get(name, []))
            if name not in by_name:
                wrong.append(f"include/tenure/tenure.cppm: {name}: there is no such name in the headers")
            elif not of_module & {d.header for d in by_name[name]}:
                wrong.append(f"include/tenure/tenure.cppm: {name}: include <tenure/{by_name[name][0].header}>")
            # In each header: overloads for other types have words of their own, but plain numbers, which follow the tensors.
            headers = {d.header for d in by_name.get(name, [])} - {
                "ops/number.hpp",
                "tensor/no_print.hpp",
                "tensor/traits.hpp",
                "expr/traced.hpp",
            }
            for header in headers or {d.header for d in by_name.get(name, [])}:
                here = [d for d in by_name[name] if d.header == header]
                if not documented(here):
                    wrong.append(f"include/tenure/{header}:{here[0].line}: {name} has no docstring")
    listed = {name for names in result.values() for name in names}
    for name, of in types_to_export(by_name, listed):
        wrong.append(f"include/tenure/{of.header}:{of.line}: {name} takes {of.qualified}: export it in include/tenure/tenure.cppm")
    for section, patterns in further.items():
        headers = {str(path.relative_to(folder)) for pattern in patterns for path in folder.glob(pattern)}
        shown = {}
        for name, found in by_name.items():
            here = documented([d for d in found if d.header in headers])
            if here and (name in listed or not any(part.endswith("detail") for part in name.split("::"))):
                shown[name] = here
        if shown:
            result[section] = shown
    for shown in result.values():
        for found in shown.values():
            for one in found:
                if re.match(r"using detail::", one.text):
                    one.text = next(d.text for d in by_name["detail::" + one.name] if d.kind == "function")
    return result, wrong


def check():
    shown, wrong = sections()
    public = {name for names in shown.values() for name in names}
    scopes = {name.split("::")[0] for name in public if "::" in name}
    public |= {part for name in public for part in ("::".join(name.split("::")[: i + 1]) for i in range(name.count("::")))}
    examples = [path for path in sorted((root / "examples").rglob("*")) if path.suffix in (".cpp", ".hpp", ".cu")]
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md")), *examples]:
        fence = language = ""
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if match := re.match(r"(`{3,})(\w*)$", line):
                fence, language = ("", "") if match[1] == fence else (fence, language) if fence else match.groups()
            for name in re.findall(r"\b(?:tn|tenure)::((?:\w+::)*\w+)", line):
                parts = name.split("::")
                is_exported = parts[0] in public and (parts[0] not in scopes or len(parts) == 1 or "::".join(parts[:2]) in public)
                is_public = is_exported or parts[0] in other_names
                if language not in ("text", "console") and parts[0] != "detail" and not is_public:
                    wrong.append(
                        f"{path.relative_to(root)}:{number}: tn::{name} is not a public name: export it in include/tenure/tenure.cppm"
                    )
    for line in wrong:
        print(line)
    print(f"{len(public)} public names, {len(wrong)} mistakes")
    return 1 if wrong else 0


def main():
    if len(sys.argv) == 1:
        sys.exit(check())
    for section, names in sections()[0].items():
        for name in sys.argv[1:]:
            for one in names.get(name, []):
                print(f"[{section}] <tenure/{one.header}>\n{one.text}\n{one.doc}\n")
                for member in one.members:
                    print(f"    {member.text}\n    {member.doc}\n")


if __name__ == "__main__":
    main()
