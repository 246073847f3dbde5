#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_headers.sh [--public] <compiler> <flags...>: checks that every header of include/tenure compiles alone, included twice. The compiler
# only parses, with two jobs at a time; JOBS sets another number. Headers that need nvcc (*.cuh, cuda*.hpp, nccl.hpp), MPI, Ceres, jaxlib or PyTorch are skipped. --public leaves
# out the headers that users do not include: there are ten times as many, and they take two minutes.
set -euo pipefail
cd "$(dirname "$0")/../include"
headers=$(find tenure -name '*.hpp' ! -name 'cuda*' ! -path '*/cuda/*' ! -name 'mpi.hpp' ! -name 'nccl.hpp' ! -path '*/distributed/*' ! -path '*/interop/ceres*' ! -name 'xla_ffi.hpp' ! -path '*/interop/torch.hpp' | LC_ALL=C sort)
if [[ $1 == --public ]]; then
  headers=$(grep -E '^tenure/([^/]*|(interop|optim)/.*)$' <<<"$headers")
  shift
fi

compile_alone() {
  local header=$1
  shift
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
    "$@" -fsyntax-only -x c++ - || { echo "$header does not compile alone"; return 1; }
}
export -f compile_alone

xargs -P "${JOBS:-2}" -I{} bash -c 'compile_alone "$@"' _ {} "$@" <<<"$headers" || { echo "some headers do not compile alone"; exit 1; }
echo "$(wc -l <<<"$headers") headers compile alone"
