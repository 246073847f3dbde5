#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# gpt.sh <program> <folder>: a short training run as a user sees it. The loss falls, a run that was interrupted goes on with the same bits, and
# wrong arguments are refused. The program itself compares the logits of the sampling with those of the whole text.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
program=$1
rm -rf "$2"
mkdir -p "$2/text" "$2/whole" "$2/parts"
cd "$2"

# 30 steps at once, and in two parts.
(cd whole && "$program" --steps 30 >out.txt)
(cd parts && "$program" --steps 30 --stop 11 >first.txt && "$program" --steps 30 --resume >out.txt)
tail -n 1 whole/out.txt
expect "an interrupted run goes on with the same bits" cmp whole/gpt.npz parts/gpt.npz
expect "and writes the same text" diff <(sed -n '/^----/,$p' whole/out.txt) <(sed -n '/^----/,$p' parts/out.txt)
expect "the second part begins where the first ended" grep -q 'after 11 steps$' <(head -n 1 parts/out.txt)

# An untrained model has the logarithm of 96, 4.56. Hundredths, to compare integers.
hundredths() { sed -E 's/.*loss ([0-9]+)\.([0-9]{2}).*/\1\2/'; }
before=$(head -n 1 whole/out.txt | hundredths)
after=$(tail -n 1 whole/out.txt | hundredths)
expect "the untrained loss is about 4.56, not $before hundredths" test "$before" -ge 450 -a "$before" -le 462
expect "the loss falls below 3.6, not $after hundredths" test "$after" -lt 360

refuses "an option" '^gpt: --stpes: no such option' --stpes 3
refuses "no value" '^gpt: --steps: a value is missing' --steps
refuses "no text" '^gpt: text: less than 10,000 characters' --text text
refuses "no folder" '^gpt: .*none' --text none
refuses "nothing to resume" '^gpt: tenure: load: gpt\.npz: ' --resume
exit "$failed"
