#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# gradbench.sh [DIR [filter]]: builds the programs of bench/gradbench for the evals of GradBench. DIR is a checkout of GradBench: its C++ tool
# `manual` (for particle and saddle, which that lacks, `finite`) is built with the same compiler and flags and measured in turns with ours, on one
# thread, and the results are compared. Prints the table of ratios, and writes the times to build/bench/gradbench.json. Without DIR the programs are
# tested on small inputs. CXX is the compiler, JOBS the number of jobs, PASSES how often the two programs take turns, SECONDS_EACH how long each
# computes.
set -euo pipefail

case "${1:-}" in -*)
  sed -n '3,7s/^# //p' "$0"
  exit 2
  ;;
esac
directory=${1:+$(realpath "$1")} filter=${2:-}
if [[ -n $directory && ! -d $directory/tools/manual ]]; then
  echo "gradbench.sh: $1 is not a checkout of GradBench: it has no tools/manual" >&2
  exit 2
fi
steps=3
source "$(dirname "$0")/common.sh"
flags="-O3 -march=native"

step "packages"
install_packages "${build_packages[@]}" nlohmann-json3-dev python3
install_compiler
build=build/bench/gradbench-$(basename "$gxx")

if [[ -z $directory ]]; then
  install_packages catch2
  step "build the tests"
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 -DTENURE_BUILD_BENCH=OFF \
    -DTENURE_BUILD_EXAMPLES=OFF
  targets=()
  for program in bench/gradbench/*.cpp; do
    name=$(basename "$program" .cpp)
    [[ $name == protocol ]] || targets+=("gradbench_$name")
  done
  cmake --build "$build" -j "$jobs" --target "${targets[@]}"
  step "test"
  exec ctest --test-dir "$build" -L gradbench --output-on-failure --no-tests=error
fi

step "build with $gxx $flags, $jobs jobs"
install_packages libbenchmark-dev g++  # bench/CMakeLists.txt compiles some files by g++, whichever the compiler is
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG" -DTENURE_NATIVE=ON \
  -DTENURE_BUILD_BENCH=ON -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_EXAMPLES=OFF
cmake --build "$build" -j "$jobs" --target bench_gradbench
theirs=$build/theirs
mkdir -p "$theirs"
for tool in manual finite; do
  for source in "$directory/tools/$tool"/*.cpp; do
    name=$(basename "$source" .cpp)
    if [[ -x $build/bench/gradbench/$name && ( $tool == manual || ! -e $directory/tools/manual/$name.cpp ) && ! $theirs/$name -nt $source ]]; then
      echo "$tool/$name"
      "$gxx" -std=c++17 $flags -w -I"$directory/cpp" -isystem /usr/include/nlohmann "$source" -o "$theirs/$name" -lm
    fi
  done
done

step "run, with $(basename "$gxx")"
export SECONDS_EACH=${SECONDS_EACH:-0.2} PASSES=${PASSES:-5}
exec python3 bench/gradbench/run.py "$directory" "$build/bench/gradbench" "$theirs" build/bench/gradbench.json "$filter"
