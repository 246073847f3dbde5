#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# no_avx.sh NM OBJDUMP PROGRAM LIBRARY: fails if the program contains an AVX instruction, if the library exports more than its engine, or
# if it has code of its own that runs when it is loaded.
set -euo pipefail
avx=$("$2" -d --no-show-raw-insn "$3" | grep -E $'\tv[a-z0-9]+ ' | grep -vcE $'\tver[rw] ' || true)
exported=$("$1" -DC --defined-only "$4" | grep -vc ' engine_avx2::' || true)
at_load=$("$1" "$4" | grep -c '_GLOBAL__sub_I' || true)
in_library=$("$2" -d --no-show-raw-insn "$4" | grep -cE $'\tv[a-z0-9]+ ' || true)
echo "AVX instructions: $avx in the program, $in_library in the library, which exports $exported other names and has $at_load initializers"
((avx == 0 && exported == 0 && at_load == 0 && in_library > 0))
