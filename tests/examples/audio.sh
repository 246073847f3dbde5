#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# audio.sh <program> <folder>: the audio effect as a user runs it. The program itself compares the bits of all block sizes and counts allocations.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
program=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

"$program" --steps 5 >out.txt
cat out.txt
expect "both models run in four block sizes" test "$(grep -c 'the same bits$' out.txt)" = 8
expect "the input has 16 bits, the outputs 32" test "$(stat -c %s clean.wav gru.wav wavenet.wav | tr '\n' ' ')" = "88244 176444 176444 "
# A file of a user's own: what was just written.
mkdir again
(cd again && "$program" --steps 0 --input ../gru.wav >out.txt || true)
expect "another file is read" test "$(stat -c %s again/wavenet.wav)" = 176444

refuses "an option" '^audio: --stpes: no such option' --stpes 3
refuses "no value" '^audio: --steps: a value is missing' --steps
refuses "no file" '^audio: none.wav: cannot be opened' --input none.wav
refuses "no sound" '^audio: out.txt: is no RIFF WAVE file' --input out.txt
exit "$failed"
