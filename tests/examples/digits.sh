#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# digits.sh <program> <digits.csv> <folder>: the training run as a user sees it: accuracies, artefacts, and what is wrong with a file.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
program=$1 data=$2
rm -rf "$3"
mkdir -p "$3"
cd "$3"

# The last line is "accuracy NN.N %": at least 97 for the first seed, and for the mean of five.
sum=0
for seed in 1 2 3 4 5; do
  "$program" "$seed" "$data" >"seed$seed.txt"
  last=$(tail -n 1 "seed$seed.txt")
  echo "seed $seed: $last"
  expect "the last line is the accuracy" grep -qE '^accuracy [0-9]+\.[0-9] %$' <<<"$last"
  tenths=$(tr -dc 0-9 <<<"$last")
  if [[ $seed == 1 ]]; then expect "at least 97 % with the default seed" test "$tenths" -ge 970; fi
  sum=$((sum + tenths))
done
expect "at least 97 % in the mean" test "$sum" -ge 4850
"$program" >default.txt
expect "seed 1 is the default, and a run repeats" diff <(sed -E 's, (left|took).*,,' default.txt) <(sed -E 's, (left|took).*,,' seed1.txt)

# What it leaves: weights (a zip archive), the curve, the plan as a page, and as a picture where Graphviz is there.
expect "weights" test "$(head -c 2 digits.npz)" = PK
expect "loss curve" grep -q '</svg>' digits_loss.svg
expect "page" grep -q '</html>' digits_plan.html
if command -v dot >/dev/null; then expect "plan" grep -q '</svg>' digits_plan.svg; else expect "plan" grep -q '^digraph' digits_plan.dot; fi

refuses "missing" '^digits: none\.csv: cannot be opened: No such file' 1 none.csv
sed '3s/,[^,]*,/,x,/' "$data" >letter.csv
refuses "a letter" "^digits: letter\.csv:3: column 2: 'x' is not a number" 1 letter.csv
sed '7s/,[^,]*$//' "$data" >short.csv
refuses "a short row" '^digits: short\.csv:7: 64 columns' 1 short.csv
sed '1797s/[^,]*$/10/' "$data" >label.csv
refuses "a label" "^digits: label\.csv:1797: column 65: '10' is not a label" 1 label.csv
: >empty.csv
refuses "empty" '^digits: empty\.csv:1: the file is empty' 1 empty.csv
exit "$failed"
