#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_headers.sh <compiler> <flags...>: checks that every header of include/tenure compiles alone, included twice. The compiler only
# parses, with two jobs at a time; JOBS sets another number. Headers that need nvcc (*.cuh, cuda*.hpp) are skipped.
set -euo pipefail
cd "$(dirname "$0")/../include"

compile_alone() {
  local header=$1
  shift
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
    "$@" -fsyntax-only -x c++ - || { echo "$header does not compile alone"; return 1; }
}
export -f compile_alone

count=$(find tenure -name '*.hpp' ! -name 'cuda*' ! -path '*/cuda/*' | wc -l)
find tenure -name '*.hpp' ! -name 'cuda*' ! -path '*/cuda/*' | LC_ALL=C sort |
  xargs -P "${JOBS:-2}" -I{} bash -c 'compile_alone "$@"' _ {} "$@" || { echo "some headers do not compile alone"; exit 1; }
echo "$count headers compile alone"
