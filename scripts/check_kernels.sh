#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check_kernels.sh <architectures> <files> <nvcc> <flags...>: checks that .cu files compile for GPUs ("sm_80 sm_90") without a warning. For
# each file it prints user seconds, registers and the local memory of a thread, which contains spills and arrays; more than 64 bytes are an
# error. If a file contains "// ptx: <n> <instruction>", a regular expression, its PTX must contain that instruction n times.
# The goal is 3 and 5 s for tests/kernels/nvcc/nodes_64.cu and nodes_256.cu in addition to empty.cu; bench/compile/nvcc.py measures that
# for each stage. User time also depends on the load of the machine, so seconds are printed and not tested.
set -euo pipefail
architectures=$1 files=$2
shift 2
TIMEFORMAT=%U
log=$(mktemp)
trap 'rm -f "$log" "$log.o" "$log.ptx" "$log.time"' EXIT

# Without the host's half: a third of the time. One call can write one cubin.
action=(-cubin)
[[ $architectures == *" "* ]] && action=(-c)
code=()  # one call for all architectures: they share the host passes, and two calls take 1.6 times as long
for architecture in $architectures; do code+=(-gencode "arch=compute_${architecture#sm_},code=$architecture"); done

# Reads the output of ptxas for an architecture: the number of kernels, the most registers and the most local memory of a kernel.
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
  { time "$@" -std=c++20 -O2 --expt-relaxed-constexpr -Xcompiler -Wall,-Wextra -Xptxas -v "${code[@]}" "${action[@]}" "$file" -o "$log.o" >"$log" 2>&1 ||
      { cat "$log"; exit 1; }; } 2>"$log.time"
  if grep -q "warning" "$log"; then
    cat "$log"
    echo "check_kernels: $file has warnings"
    exit 1
  fi
  echo "$(basename "$file"): $(tail -1 "$log.time") s"
  for architecture in $architectures; do
    read -r kernels registers bytes < <(told "$architecture")
    # A few bytes around the call of a 64-bit division cost nothing. A kernel that does not fit into the registers spills hundreds.
    if [ "$bytes" -gt 64 ]; then
      echo "check_kernels: a kernel of $file takes $bytes bytes of local memory for each thread on $architecture"
      exit 1
    fi
    echo "  $architecture: $kernels kernels of up to $registers registers, $bytes bytes of local memory"
  done
}

# A vector access in the PTX is a vector access in the machine code. Only the first architecture is checked.
look_for_instructions() {  # file
  local file=$1 wanted instruction found
  shift
  grep -q "^// ptx: " "$file" || return 0
  "$@" -std=c++20 -O2 --expt-relaxed-constexpr -arch="${architectures%% *}" -ptx "$file" -o "$log.ptx"
  while read -r _ _ wanted instruction; do
    found=$(grep -cE "^[[:space:]]*$instruction[[:space:]]" "$log.ptx" || true)
    if [ "$found" != "$wanted" ]; then
      echo "check_kernels: $file expects $instruction $wanted times, but its PTX has it $found times"
      exit 1
    fi
    echo "  $wanted $instruction"
  done < <(grep "^// ptx: " "$file")
}

for file in $files; do
  compile "$file" "$@"
  look_for_instructions "$file" "$@"
done
