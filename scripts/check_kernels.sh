#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_kernels.sh <architectures> <files> <nvcc> <flags...>: .cu files compile for GPUs ("sm_80 sm_90") without a warning; prints user
# seconds, registers, and the local memory of a thread, where spills and arrays go (of more than 64 bytes it complains). The goal is 3
# and 5 s for tests/kernels/nvcc/nodes_64.cu and nodes_256.cu over empty.cu; bench/compile/nvcc.py measures that, by stages. A busy
# machine costs user time too, so seconds are shown and not tested.
set -euo pipefail
architectures=$1 files=$2
shift 2
TIMEFORMAT=%U
log=$(mktemp)
trap 'rm -f "$log" "$log.o" "$log.time"' EXIT

# The largest number that a sed script prints of the log, 0 where it prints none.
most() { { echo 0 && sed -n "$1" "$log"; } | sort -n | tail -1; }

compile() {  # file, architecture
  local file=$1 architecture=$2
  shift 2
  { time "$@" -std=c++20 -O2 --expt-relaxed-constexpr -Xcompiler -Wall,-Wextra -Xptxas -v -arch="$architecture" -c "$file" -o "$log.o" >"$log" 2>&1 ||
      { cat "$log"; exit 1; }; } 2>"$log.time"
  if grep -q "warning" "$log"; then
    cat "$log"
    echo "check_kernels: $file has warnings for $architecture"
    exit 1
  fi
  # A few bytes around the call of a 64-bit division cost nothing; a kernel that is too large for its registers spills hundreds.
  local bytes registers
  bytes=$(most 's/.* \([0-9]*\) bytes stack frame.*/\1/p')
  registers=$(most 's/.*Used \([0-9]*\) registers.*/\1/p')
  if [ "$bytes" -gt 64 ]; then
    echo "check_kernels: a kernel of $file takes $bytes bytes of local memory a thread for $architecture"
    exit 1
  fi
  echo "$(basename "$file") $architecture: $(tail -1 "$log.time") s, $(grep -c 'Compiling entry' "$log" || true) kernels of up to $registers registers, $bytes bytes of local memory"
}

for architecture in $architectures; do
  for file in $files; do
    compile "$file" "$architecture" "$@"
  done
done
