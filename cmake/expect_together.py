#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""expect_together.py <unit> <compiler id> <cmake> <ExpectDiagnostic.cmake> <compiler command>...

The unit includes many programs with a mistake, each in a namespace. One compilation gives the errors of all; each belongs to the program that it
names. A program whose first error is as it expects, in as few lines, has passed. Every other one (its error was said of a neighbour already, say)
is compiled alone by ExpectDiagnostic.cmake, which alone says that a program fails."""

import os
import re
import subprocess
import sys

unit, compiler, cmake, expect, *command = sys.argv[1:]
gnu = compiler == "GNU"
sources = re.findall(r'^#include "(.*)"$', open(unit).read(), re.M)
if not sources:
    sys.exit(f"{unit} includes no program")

limit = "-fmax-errors=0" if gnu else "-ferror-limit=0"
said = subprocess.run([*command, limit, "-DTENURE_MISUSE", unit], capture_output=True, text=True, errors="replace", env=dict(os.environ, LC_ALL="C"))

# g++ says where it is before an error, clang after it; lines of source follow both.
places = re.compile(r"^In file included from |^ +from |^\S.*: (In |At )|^\S+ +(recursively )?required (from|by|for) ")
error = re.compile(r"^\S+:\d+:\d+: (?:fatal )?error: (.*)")
blocks = []  # [message or None, lines]
for line in said.stderr.splitlines():
    found = error.match(line)
    if not blocks or ((found or places.match(line)) and blocks[-1][0] is not None):
        blocks.append([None, []])
    if found:
        blocks[-1][0] = found[1]
    blocks[-1][1].append(line)

of = {source: [] for source in sources}
shared = set()
for block in blocks:
    text = "\n".join(block[1])
    named = [source for source in sources if source + ":" in text]
    for source in named:
        of[source].append(block)
    if len(named) > 1:
        shared.update(named)


def passes(source):
    text = open(source).read()
    expectations = re.findall(r"^// expect: (.+)$", text, re.M)
    allowed = re.findall(r"^// lines: (\d+)$", text, re.M)
    own = of[source]
    if source in shared or not expectations or not own or own[0][0] is None:
        return False
    lines = sum(len(block[1]) for block in own)
    return all(re.search(e, own[0][0]) for e in expectations) and (not gnu or lines <= int(allowed[-1] if allowed else 15))


alone = [source for source in sources if not passes(source)]
failed = 0
for source in alone:
    ran = subprocess.run([cmake, f"-DSOURCE={source}", f"-DCOMPILER_ID={compiler}", "-P", expect, "--", *command, "-DTENURE_MISUSE", source], capture_output=True, text=True, errors="replace")
    if ran.returncode != 0:
        failed += 1
        print(ran.stdout + ran.stderr)
print(f"{len(sources)} programs, {len(alone)} of them compiled alone, {failed} failed")
sys.exit(failed > 0)
