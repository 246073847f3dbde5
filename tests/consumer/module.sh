#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# module.sh <folder> <include folder> <compiler command...>: compiles tenure.cppm and a program that imports it, and runs the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 include=$2
shift 2
mkdir -p "$folder"
cd "$folder"
flags=(-std=c++20 -Wall -Wextra -Werror "-I$include")
"$@" "${flags[@]}" --precompile "$include/tenure/tenure.cppm" -o tenure.pcm
"$@" "${flags[@]}" -fmodule-file=tenure=tenure.pcm -c "$here/module/main.cpp" -o main.o
"$@" "${flags[@]}" -Wno-unused-command-line-argument -c tenure.pcm -o tenure.o  # which includes nothing
"$@" "${flags[@]}" main.o tenure.o -pthread -o program
./program
