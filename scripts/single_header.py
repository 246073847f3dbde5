#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes Tenure as one header, for projects that copy a file and for online compilers.

    scripts/single_header.py [-o tenure.hpp] [header...]

Without headers it is what <tenure/tenure.hpp> includes, with the thread pool and with save, load and map_model. Eigen and
Boost.Hana remain includes. It is for the CPU: nvcc takes the folders include/ and kernels/.
"""
import argparse, re
from pathlib import Path

root = Path(__file__).resolve().parent.parent
folder = root / "include"
default = ["tenure/tenure.hpp", "tenure/threads.hpp", "tenure/interop/safetensors.hpp"]
in_every_header = ("tenure/core/letters/hide.hpp", "tenure/core/letters/restore.hpp")
left_out = re.compile(r"tenure/(cuda|storage/cuda|backend/cuda|kernels)|\.cuh$")


def path_of(name, includer):
    """The header of this project that an #include names, or None."""
    for path in (folder / name, includer.parent / name):
        if path.is_file():
            return path.resolve()
    return None


class Branch:
    """The open branch of an #if, or the file itself."""

    def __init__(self, follows=None):
        self.seen = set()  # the headers that it includes: outside of it they may be missing
        self.is_error = True  # so far it holds an #error and nothing else
        self.has_others = follows is not None
        self.others_fail = follows is None or (follows.is_error and follows.others_fail)  # the earlier branches of the same #if


def write(header, branches, out):
    """Appends the text of a header, and of what it includes and is not there yet."""
    name = str(header.relative_to(folder))
    guard = "TENURE_SINGLE_" + re.sub(r"\W", "_", name.removeprefix("tenure/")).upper()
    out += [f"#ifndef {guard}", f"#define {guard}"]
    for line in header.read_text().split("\n"):
        include = re.match(r'#include [<"]([^>"]+)[>"]', line)
        inner = path_of(include[1], header) if include else None
        if re.match(r"#pragma once|// SPDX-License-Identifier", line):
            continue
        if include and include[1] in in_every_header:
            continue
        if inner is not None and not left_out.search(include[1]):
            branches[-1].is_error = False
            if not any(inner in branch.seen for branch in branches):
                branches[-1].seen.add(inner)
                write(inner, branches, out)
            continue
        if re.match(r"#if", line):
            branches[-1].is_error = False
            branches.append(Branch())
        elif re.match(r"#el", line):
            branches.append(Branch(follows=branches.pop()))
        elif re.match(r"#endif", line):
            ended = branches.pop()
            if ended.has_others and ended.others_fail:
                branches[-1].seen |= ended.seen
        elif line and not line.startswith("#error"):
            branches[-1].is_error = False
        out.append(line)
    while out[-1] == "":
        out.pop()
    out.append("#endif")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("tenure.hpp"))
    parser.add_argument("headers", nargs="*", default=default, help="for example tenure/tenure.hpp tenure/interop/eigen.hpp")
    options = parser.parse_args()
    out = ["// SPDX-License-Identifier: BSL-1.0", "// Tenure in one header, written by scripts/single_header.py. It needs C++20, Eigen 3.4 and Boost.Hana.", "#pragma once", ""]
    out += (folder / in_every_header[0]).read_text().split("\n")
    branches = [Branch()]
    for name in options.headers:
        header = path_of(name, folder / "tenure")
        if header is None:
            parser.error(f"{name}: there is no such header in {folder}")
        if header not in branches[0].seen:
            branches[0].seen.add(header)
            write(header, branches, out)
    out += (folder / in_every_header[1]).read_text().split("\n")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n".join(out) + "\n")
    print(f"{options.output}: {len(out)} lines")


if __name__ == "__main__":
    main()
