#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# shared_functions.sh NM OBJDUMP A B: fails if a function of Tenure that both objects define has other instructions in A than in B. A call
# of one_lane::f counts as a call of f: that is how shared functions reach those that depend on the lanes.
set -euo pipefail
nm=$1 objdump=$2

names() { "$nm" --defined-only "$1" | awk '$2 ~ /[Wu]/ && $3 ~ /6tenure/ { print $3 }' | sort -u; }
comm -12 <(names "$3") <(names "$4") | c++filt | sort -u >shared_functions.txt

# A line for each shared function: its name, then its instructions. Constants lie at other offsets in each object.
functions() {
  "$objdump" -drwC --no-show-raw-insn "$1" |
    sed -E '/^[0-9a-f]+ <.*>:$/ { s/^[0-9a-f]+ <(.*)>:$/@\1/; b }
            /^$|^Disassembly of/d
            s/^ *[0-9a-f]+:\t//; s/ *# [0-9a-f]+ <[^\t]*>//; s/ <[^\t]*>//
            s/(\.rodata|\.LC|\.L__unnamed_|\.L\.str|\.data\.rel\.ro|\.gcc_except_table)[^ \t]*/\1/g; s/one_lane:://g' |
    awk 'function close_last() { if (name in shared) print name body }
         NR == FNR { shared[$0] = 1; next }
         /^@/ { close_last(); name = substr($0, 2); body = ""; next }
         { body = body "|" $0 }
         END { close_last() }' shared_functions.txt - | sort -u
}
functions "$3" >functions_a.txt
functions "$4" >functions_b.txt
comm -3 functions_a.txt functions_b.txt | sed 's/^\t//; s/|.*//' | sort -u >different.txt
echo "$(wc -l <functions_a.txt) functions of Tenure stand in both objects, $(wc -l <different.txt) of them with other instructions"
head -n 20 different.txt
[[ -s functions_a.txt && ! -s different.txt ]]
