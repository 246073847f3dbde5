#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_kernels.sh <architectures> <files> <nvcc> <flags...>: .cu files compile for GPUs ("sm_80 sm_90") without a warning; prints user
# seconds for all of them, and of each registers and the local memory of a thread, where spills and arrays go (of more than 64 bytes it
# complains). Where a file says "// ptx: <n> <instruction>", a regular expression, its PTX has that instruction n times.
# The goal is 3 and 5 s for tests/kernels/nvcc/nodes_64.cu and nodes_256.cu over empty.cu; bench/compile/nvcc.py measures that, by
# stages. A busy machine costs user time too, so seconds are shown and not tested.
set -euo pipefail
architectures=$1 files=$2
shift 2
TIMEFORMAT=%U
log=$(mktemp)
trap 'rm -f "$log" "$log.o" "$log.ptx" "$log.time"' EXIT

code=()  # by one call: the host's passes are the same for all, and two calls take 1.6 times as long
for architecture in $architectures; do code+=(-gencode "arch=compute_${architecture#sm_},code=$architecture"); done

# What ptxas says of an architecture: kernels, the most registers and the most local memory of one.
told() {
  awk -v wanted="'$1'" '
    /Compiling entry/ { is_wanted = index($0, wanted); kernels += is_wanted > 0 }
    is_wanted && / bytes stack frame/ { if ($1 > bytes) bytes = $1 }
    is_wanted && /Used [0-9]+ registers/ { sub(/.*Used /, ""); if ($1 > registers) registers = $1 }
    END { print kernels + 0, registers + 0, bytes + 0 }' "$log"
}

compile() {  # file
  local file=$1 architecture kernels registers bytes
  shift
  { time "$@" -std=c++20 -O2 --expt-relaxed-constexpr -Xcompiler -Wall,-Wextra -Xptxas -v "${code[@]}" -c "$file" -o "$log.o" >"$log" 2>&1 ||
      { cat "$log"; exit 1; }; } 2>"$log.time"
  if grep -q "warning" "$log"; then
    cat "$log"
    echo "check_kernels: $file has warnings"
    exit 1
  fi
  echo "$(basename "$file"): $(tail -1 "$log.time") s"
  for architecture in $architectures; do
    read -r kernels registers bytes < <(told "$architecture")
    # A few bytes around the call of a 64-bit division cost nothing; a kernel that is too large for its registers spills hundreds.
    if [ "$bytes" -gt 64 ]; then
      echo "check_kernels: a kernel of $file takes $bytes bytes of local memory a thread for $architecture"
      exit 1
    fi
    echo "  $architecture: $kernels kernels of up to $registers registers, $bytes bytes of local memory"
  done
}

# A vector access of the PTX is one of the machine code; the first architecture stands for all.
look_for_instructions() {  # file
  local file=$1 wanted instruction found
  shift
  grep -q "^// ptx: " "$file" || return 0
  "$@" -std=c++20 -O2 --expt-relaxed-constexpr -arch="${architectures%% *}" -ptx "$file" -o "$log.ptx"
  while read -r _ _ wanted instruction; do
    found=$(grep -cE "^[[:space:]]*$instruction[[:space:]]" "$log.ptx" || true)
    if [ "$found" != "$wanted" ]; then
      echo "check_kernels: $file wants $instruction $wanted times, and its PTX has it $found times"
      exit 1
    fi
    echo "  $wanted $instruction"
  done < <(grep "^// ptx: " "$file")
}

for file in $files; do
  compile "$file" "$@"
  look_for_instructions "$file" "$@"
done
