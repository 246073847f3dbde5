#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# bench.sh [--peers] [--check] [--baseline] [--publish] [filter]: runs every benchmark whose row <workload>/<implementation>/<size> matches the filter.
# Writes build/bench/results.json with machine, compiler and flags, tables to results.md and pictures to figures/. --peers adds libtorch
# from Debian's package, and JAX and PyTorch where the Python in PEERS_PYTHON has them or pip brings them. --check fails if a ratio is
# worse than in bench/baseline.json, which has ratios for each compiler and kind of processor; --baseline writes them. --publish implies
# --peers and --baseline, and writes the tables in README.md and docs/performance.md, and docs/figures.
# bench.sh --compile [--publish]: measures compile time, memory and sizes instead, and writes to build/bench/compile.
# bench.sh --cuda: measures a GPU instead, with PyTorch if python3 has torch; writes build/bench/cuda.jsonl and a table to cuda.md.
# TENURE_BENCH_LARGE=1 adds the language model of 124 million parameters, whose step takes seconds.
# BENCH_ARGS replaces the repetitions and times for Google Benchmark, BENCH_PASSES the number of passes over all programs, CXX the
# compiler, JOBS the number of jobs.
set -euo pipefail

peers=OFF what=run ratio_options=() filter=.
for argument in "$@"; do
  case "$argument" in
    --peers) peers=ON ;;
    --check) ratio_options+=(--check bench/baseline.json) ;;
    --baseline) ratio_options+=(--baseline) ;;
    --publish) peers=ON ratio_options+=(--publish) ;;
    --compile) what=compile ;;
    --cuda) what=cuda ;;
    -*)
      sed -n '3,12s/^# //p' "$0"
      exit 2
      ;;
    *) filter=$argument ;;
  esac
done
[[ "${ratio_options[*]}" != *--publish* || $filter == . ]] || { echo "bench.sh: --publish needs all rows, so it takes no filter" >&2; exit 2; }
steps=6
source "$(dirname "$0")/common.sh"
results=build/bench
flags="-O3 -march=native"
passes=${BENCH_PASSES:-5}
read -ra bench_args <<<"${BENCH_ARGS:---benchmark_repetitions=3 --benchmark_min_time=0.05 --benchmark_enable_random_interleaving=true}"

step "packages"
if [[ $what == cuda ]]; then
  finds boost/hana.hpp && command -v python3 >/dev/null || install_packages libboost-dev python3
else
  install_packages "${build_packages[@]}" libbenchmark-dev libsleef-dev python3
fi
if [[ $peers == ON && $what == run ]]; then
  install_packages libtorch-dev libopenblas-dev
fi
install_compiler
figures=$results/figures
if [[ "${ratio_options[*]}" == *--publish* && $(basename "$gxx") != clang* ]]; then
  figures=docs/figures
fi

if [[ $what == cuda ]]; then
  steps=4
  nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || fail "there is no nvcc on the PATH"
  nvidia-smi -L 2>/dev/null || fail "there is no GPU here"
  mkdir -p "$results"
  step "build with $nvcc"
  "$nvcc" -std=c++20 -O3 -arch=native --expt-relaxed-constexpr -ccbin "$gxx" -Iinclude -Ikernels -Ibench "${prefix_flags[@]}" \
    bench/cuda/cuda_bench.cu -o "$results/cuda_bench" -lcublas
  step "run"
  "$results/cuda_bench" | tee "$results/cuda.jsonl"
  if python3 -c "import torch" 2>/dev/null; then
    python3 bench/cuda/peers.py | tee -a "$results/cuda.jsonl"
  else
    echo "python3 has no torch, so PyTorch is not measured"
  fi
  step "table"
  python3 bench/cuda/report.py "$results/cuda.jsonl" | tee "$results/cuda.md"
  exit
fi

if [[ $what == compile ]]; then
  steps=2
  install_packages time
  step "compile, one source after the other"
  python3 bench/compile/sweep.py --build "$results/compile" --compilers "$gxx" clang++
  exec python3 bench/plots.py --compile "$results/compile/compile.json" --into "$figures"
fi

# configure <tree> <compiler> <peers>: each compiler has a build tree of its own.
configure() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_CXX_COMPILER="$2" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DTENURE_PEERS="$3" \
    -DTENURE_BUILD_BENCH=ON -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_EXAMPLES=OFF
  rm -rf "$1/bench/bin"  # otherwise a program whose source was deleted would still run
}

build=$results/$(basename "$gxx")
trees=("$build")
step "configure in $build"
configure "$build" "$gxx" OFF
if [[ $peers == ON ]]; then
  # clang 14 cannot compile libtorch's headers as C++20 with libstdc++ 12. libtorch's speed does not depend on the compiler of the caller.
  [[ $(basename "$gxx") == clang* ]] && peer_compiler=g++ || peer_compiler=$gxx
  trees+=("$results/peers")
  configure "$results/peers" "$peer_compiler" ON
fi

step "build, $jobs jobs"
cmake --build "$build" -j "$jobs"
if [[ $peers == ON ]]; then
  cmake --build "$results/peers" -j "$jobs" --target bench_peers
  python=${PEERS_PYTHON:-$results/python/bin/python}
  for library in jax torch; do
    if ! "$python" -c "import numpy, $library" 2>/dev/null && [[ -z ${PEERS_PYTHON:-} ]]; then
      { python3 -m venv "$results/python" && "$results/python/bin/pip" install -q numpy "$library"; } || true
    fi
    if "$python" -c "import numpy, $library" 2>/dev/null; then
      launcher=$results/peers/bench/bin/$library
      printf '#!/bin/sh\nexec "%s" bench/peers/python_rows.py %s "$@"\n' "$python" "$library" >"$launcher"
      chmod +x "$launcher"
    else
      echo "there is no $library: it is not measured"
    fi
  done
fi

# Several passes over all programs, so that a slow minute of the machine does not affect all repetitions of a row. A ratio is computed
# within a pass.
step "run, rows matching '$filter', $passes passes"
rm -rf "$build/json"
mkdir -p "$build/json"
programs=()
for tree in "${trees[@]}"; do
  programs+=("$tree"/bench/bin/*)
done
[[ -e ${programs[0]} ]] || fail "there are no benchmarks in bench/"
for ((pass = 1; pass <= passes; ++pass)); do
  for program in "${programs[@]}"; do
    name=$(basename "$program")
    # Not "| grep -q .": grep ends at the first line, and the programs in Python fail when they write the next one.
    [[ -n $("$program" --benchmark_list_tests --benchmark_filter="$filter" 2>/dev/null) ]] || continue
    printf '\n%s, pass %d\n' "$name" "$pass"
    # The console shows progress. The file contains the same as the output of --benchmark_format=json.
    "$program" --benchmark_filter="$filter" "${bench_args[@]}" \
      --benchmark_out="$build/json/$name.$pass.json" --benchmark_out_format=json
  done
done

step "merge into $results/results.json"
case " $(grep -m1 -E '^(flags|Features)' /proc/cpuinfo) " in
  *" avx512vl "*) vectors=AVX-512 ;;
  *" avx2 "*) vectors=AVX2 ;;
  *) vectors=$(uname -m) ;;
esac
python3 bench/merge.py "$build/json" "$build/results.json" vectors="$vectors" compiler="$("$gxx" --version | head -n 1)" flags="$flags" \
  machine="$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)"
cp "$build/results.json" "$results/results.json"

step "ratios and pictures"
python3 bench/plots.py --run "$results/results.json" --into "$figures"
python3 bench/ratios.py "$results/results.json" "${ratio_options[@]}" | tee "$results/results.md"
if [[ "${ratio_options[*]}" == *--publish* ]]; then
  python3 bench/plots.py --table docs/performance.md --into "$figures"
fi
