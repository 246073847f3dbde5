#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# bench.sh [--peers] [--check] [filter]: every benchmark whose row <workload>/<implementation>/<size> matches the filter, into
# build/bench/results.json with machine, compiler and flags, and as a table of ratios into build/bench/results.md.
# --peers adds libtorch, from Debian's package; --check fails where a ratio is worse than in bench/baseline.json.
# bench.sh compile: what compiling costs instead (seconds, memory, sizes), into build/bench/compile.
# BENCH_ARGS replaces the repetitions and times given to Google Benchmark, CXX the compiler.
set -euo pipefail

peers=OFF check=() filter=.
for argument in "$@"; do
  case "$argument" in
    --peers) peers=ON ;;
    --check) check=(--check bench/baseline.json) ;;
    -*)
      sed -n '3,7s/^# //p' "$0"
      exit 2
      ;;
    *) filter=$argument ;;
  esac
done
steps=6
source "$(dirname "$0")/common.sh"
build=build/bench
flags="-O3 -march=native"
read -ra bench_args <<<"${BENCH_ARGS:---benchmark_repetitions=5 --benchmark_min_time=0.1 --benchmark_enable_random_interleaving=true}"

step "packages"
install_packages "${build_packages[@]}" libbenchmark-dev python3
if [[ $peers == ON ]]; then
  install_packages libtorch-dev libopenblas-dev
fi
install_compiler

if [[ $filter == compile ]]; then
  steps=2
  install_packages time
  step "compile, one source after the other"
  exec python3 bench/compile/sweep.py --build "$build/compile" --compilers "$gxx" clang++
fi

step "configure in $build"
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DTENURE_NATIVE=ON -DTENURE_PEERS="$peers" \
  -DTENURE_BUILD_BENCH=ON -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_EXAMPLES=OFF

step "build, $jobs jobs"
rm -rf "$build/bench/bin"  # a program whose source is gone must not run
cmake --build "$build" -j "$jobs"

step "run, rows matching '$filter'"
rm -rf "$build/json"
mkdir -p "$build/json"
programs=("$build"/bench/bin/*)
[[ -e ${programs[0]} ]] || fail "there are no benchmarks in bench/"
for program in "${programs[@]}"; do
  name=$(basename "$program")
  if ! "$program" --benchmark_list_tests --benchmark_filter="$filter" 2>/dev/null | grep -q .; then
    continue
  fi
  printf '\n%s\n' "$name"
  # The console shows progress, the file is what --benchmark_format=json would print.
  "$program" --benchmark_filter="$filter" "${bench_args[@]}" \
    --benchmark_out="$build/json/$name.json" --benchmark_out_format=json
done

step "merge into $build/results.json"
machine=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
cmake -DFOLDER="$build/json" -DRESULT="$build/results.json" -DFILTER="$filter" -DFLAGS="$flags" \
  -DCOMPILER="$("$gxx" --version | head -n 1)" -DMACHINE="$machine" -P scripts/merge_benchmarks.cmake

step "ratios to hand-written code"
python3 bench/ratios.py "$build/results.json" "${check[@]}" | tee "$build/results.md"
