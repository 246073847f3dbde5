#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# on_gpu.sh prepare [target...]   on a machine without a GPU: builds the tests and benchmarks of a GPU and packs them into build/device/carry
# on_gpu.sh run [stage...]        on the machine with the GPU, in a copy of the checkout with build/device/carry: runs them, the most valuable
#                                 first, in LIMIT seconds (480). Writes at most eight files into $OUT (build/device-out), and fails if a test does.
#                                 Stages: env smoke suites sanitizer bench peers ncu compile
# on_gpu.sh rebuild target...     there, after a fix: compiles targets with all cores; `run suites` runs them
# The machine with the GPU needs nvcc and g++ for rebuild alone, and no network, no package manager, no Eigen, Boost or Catch2.
# DEVICE_ARCH is its architecture (90), JOBS the number of jobs: one takes up to 4.4 GB.
set -uo pipefail
# shellcheck disable=SC2034
steps=1
source "$(dirname "$0")/common.sh"
kit=$PWD/build/device arch=${DEVICE_ARCH:-90}
carry=$kit/carry
suites=(test_cuda cuda_programs test_golden_on_cuda test_laws_on_cuda test_eager_on_cuda test_ops_on_cuda test_transform_on_cuda test_optim_on_cuda test_thrust_on_cuda)
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)

# No warning is an error: the g++ of the other machine warns of other things. Machine code for one GPU, without PTX, is half the size.
configure() {  # tree jobs [CMake option...]
  cmake -S . -B "$1" -G Ninja -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_CUDA_ARCHITECTURES="$arch-real" \
    -DCMAKE_CUDA_FLAGS=--compress-mode=size -DTENURE_BUILD_BENCH=OFF -DTENURE_BUILD_EXAMPLES=OFF -DTENURE_NATIVE=OFF -DTENURE_CUDA=ON -DTENURE_MPI=OFF "${@:2}"
}

# ---- prepare -----------------------------------------------------------------------------------------------------

# A suite of which some units do not compile is linked without them, because Catch2's cases register themselves.
build_suite() {  # tree target
  local tree=$1 target=$2 log=$kit/$2.log object objects symbols
  if ! nice -n 10 ninja -C "$tree" -j "$device_jobs" -k 0 "tests/cuda/$target" >"$log" 2>&1; then
    objects=$(find "$tree/tests/cuda/CMakeFiles/$target.dir" -name '*.o' 2>/dev/null)
    echo "$target: $(grep -c '^FAILED' "$log") units do not compile: $(grep -oP '^FAILED: \K.*/\K[^/ ]+(?=\.o)' "$log" | tr '\n' ' ')($log)" | tee -a "$kit/failed.txt"
    [[ $objects == *cuda_main* && $(wc -w <<<"$objects") -gt 1 ]] || return
    # shellcheck disable=SC2086
    nice -n 10 "$nvcc" "-arch=sm_$arch" -ccbin "${CXX:-g++}" $objects -o "$tree/tests/cuda/$target" -lcublas >>"$log" 2>&1 || return
  fi
  cp "$tree/tests/cuda/$target" "$kit/bin/" && strip "$kit/bin/$target"
  # Cases without a kernel ran on the host: then they are no tests of the device, and tests/on_device.cmake should not list them.
  while IFS= read -r object; do
    symbols=$(nm "$object" 2>/dev/null)
    [[ $symbols == *AutoReg* && $symbols != *__device_stub__* ]] && echo "$target: $(basename "$object" .o) has no kernel" | tee -a "$kit/failed.txt"
  done < <(find "$tree/tests/cuda/CMakeFiles/$target.dir" -name '*.o' 2>/dev/null)
}

build_program() {  # source
  local name
  name=$(basename "$1" .cu)
  if [[ ! -x $kit/bin/$name || -n $(find include kernels "$1" -newer "$kit/bin/$name" -print -quit) ]]; then
    if ! nice -n 10 "$nvcc" -std=c++20 -O3 --expt-relaxed-constexpr -gencode "arch=compute_$arch,code=sm_$arch" -ccbin "${CXX:-g++}" -Iinclude -Ikernels -Ibench \
      "${prefix_flags[@]}" "$1" -o "$kit/bin/$name" -lcublas >"$kit/$name.log" 2>&1; then
      echo "$name does not compile ($kit/$name.log)" | tee -a "$kit/failed.txt"
      rm -f "$kit/bin/$name"
      return
    fi
    strip "$kit/bin/$name"
  fi
}

# Eigen, Boost.Hana with what it includes, and Catch2, with their CMake packages: as below a prefix. About 1 MiB.
pack_prefix() {
  local list=$kit/prefix.txt
  {
    # What of Boost is read, by the preprocessor itself.
    { printf 'boost/%s\n' hana.hpp version.hpp config.hpp; grep -rhoE '<boost/[^>]+>' include kernels tests bench examples | tr -d '<>'; } | sort -u | sed 's/.*/#include <&>/' >"$kit/boost.cpp"
    "${CXX:-g++}" -std=c++20 -M "$kit/boost.cpp" 2>/dev/null | tr ' \\' '\n\n' | sed -n 's|^/usr/\(include/boost/\)|\1|p'
    cd /usr && find include/boost/hana include/eigen3/Eigen include/eigen3/unsupported/Eigen/CXX11 share/eigen3/cmake lib/cmake/Catch2 include/catch2 \
      lib/libCatch2*.a lib/*/libCatch2*.a lib/*/cmake/Boost-* lib/*/cmake/boost_headers-* lib/*/cmake/BoostDetectToolset-* -type f 2>/dev/null
  } | sort -u >"$list"
  tar -C /usr -cJf "$carry/prefix.tar.xz" -T "$list"
}

prepare() {
  local tree=$kit-tree target by_memory
  [[ -n $nvcc ]] || fail "there is no nvcc on the PATH"
  (($#)) || set -- "${suites[@]}" digits_cuda cuda_bench bench_more
  by_memory=$(awk '/^MemAvailable/ { n = int($2 / 4500000); print n < 1 ? 1 : n }' /proc/meminfo)
  device_jobs=${JOBS:-$((by_memory < jobs ? by_memory : jobs))}
  mkdir -p "$kit/bin" "$carry"
  : >"$kit/failed.txt"
  configure "$tree" -DCMAKE_CUDA_HOST_COMPILER="${CXX:-g++}" >"$kit/configure.log" 2>&1 || { tail -n 20 "$kit/configure.log"; fail "CMake failed"; }
  for target in "$@"; do
    case $target in
      *_bench | bench_*) build_program "bench/cuda/$target.cu" ;;
      *) build_suite "$tree" "$target" ;;
    esac
  done
  pack_prefix || echo "the headers are not packed: rebuild needs Eigen, Boost and Catch2 there" | tee -a "$kit/failed.txt"
  { git rev-parse HEAD; git status --porcelain | head -n 20; } >"$carry/revision.txt" 2>/dev/null
  tar -C "$kit" -cf - bin | xz -T0 -6 >"$carry/bin.tar.xz"  # host code; that of the GPU is compressed already
  cp "$kit/failed.txt" "$carry/"
  ls -l "$kit/bin"
  cat "$kit/failed.txt"
  echo "$(du -sh "$carry" | cut -f1) in $carry: copy it with the checkout to the machine with the GPU, and run there: scripts/on_gpu.sh run"
}

# ---- run ---------------------------------------------------------------------------------------------------------

began=$SECONDS failures=0
say() { printf '%4ds %s\n' $((SECONDS - began)) "$*" | tee -a "$summary"; }
# within <seconds> <command>...: no longer than that, nor than all of the run may take.
within() {
  local most=$1 left=$((limit - (SECONDS - began)))
  shift
  ((left < 5)) && return 124
  timeout -k 3 $((most < left ? most : left)) "$@"
}
# keep <file of $OUT> <title> <file>: appends at once, because the machine may go at any time.
keep() { (flock 9; echo "##### $2"; cat "$3") 9>>"$w/lock" >>"$1" 2>/dev/null; }
closing() { grep -aE '^(All tests passed|test cases:|no GPU|No tests ran|[0-9]+ failures)' "$1" | tail -n 1; }

unpack() {
  out=${OUT:-$PWD/build/device-out} w=${W:-${TMPDIR:-/tmp}/tenure-on-gpu} limit=${LIMIT:-480} summary=
  mkdir -p "$out" "$w"
  summary=$out/summary.txt
  : >>"$summary"
  [[ -f $carry/bin.tar.xz ]] || fail "there is no $carry: run scripts/on_gpu.sh prepare on a machine without a GPU first, and copy it here"
  [[ $w/bin -nt $carry/bin.tar.xz ]] || { tar -C "$w" -xJf "$carry/bin.tar.xz" && touch "$w/bin"; }
  [[ -d $w/prefix || ! -f $carry/prefix.tar.xz ]] || { mkdir -p "$w/prefix" && tar -C "$w/prefix" -xJf "$carry/prefix.tar.xz"; }
  [[ -n $nvcc ]] && PATH=$PATH:$(dirname "$nvcc")
  # cuBLAS of the toolkit, else of the packages of PyTorch.
  blas=$(ldconfig -p 2>/dev/null | awk '/libcublas\.so\.1[23]/ { print $NF; exit }')
  [[ -n $blas ]] || blas=$(find /usr/local /opt -name 'libcublas.so.1[23]' -print -quit 2>/dev/null)
  [[ -n $blas ]] && export LD_LIBRARY_PATH=$(dirname "$blas"):${LD_LIBRARY_PATH:-}
  export PYTHONUNBUFFERED=1 w out
}

stage_env() {
  {
    nvidia-smi -L
    nvidia-smi --query-gpu=driver_version,clocks.sm,clocks.mem,memory.total,mig.mode.current --format=csv
    uname -r
    nproc
    free -g | head -n 2
    ldd --version | head -n 1
    g++ --version | head -n 1
    cmake --version | head -n 1
    [[ -n $nvcc ]] && "$nvcc" --version | tail -n 2
    echo "cuBLAS: $blas"
    for tool in compute-sanitizer ncu ninja python3; do command -v "$tool" || echo "no $tool"; done
    cat "$carry/revision.txt"
    echo "left out by prepare: $(cat "$carry/failed.txt")"
    for program in "$w"/bin/*; do echo "$program: $(ldd "$program" 2>&1 | grep -c 'not found') libraries not found"; done
  } >"$out/env.txt" 2>&1
  say "$(nvidia-smi -L 2>&1 | head -n 1 | cut -d'(' -f1)| programs that do not start: $(grep -c '[1-9][0-9]* libraries not found' "$out/env.txt")"
}

stage_smoke() {
  local rc
  within 60 "$w/bin/test_cuda" "cuda: elements go there and come back" >"$w/smoke.log" 2>&1
  rc=$?
  say "smoke: rc $rc $(closing "$w/smoke.log")"
  ((rc == 0)) || { failures=1; tail -n 15 "$w/smoke.log"; }
}

# A whole suite in one process; if it fails, each of its cases in a process of its own, because the error of a kernel stays with its context.
one_suite() {
  local s=$1 log=$w/$1.log rc at=$SECONDS
  timeout -k 3 150 "$w/bin/$s" >"$log" 2>&1
  rc=$?
  echo "$s: rc $rc, $((SECONDS - at)) s: $(closing "$log")"
  keep "$out/suites.log" "$s" <(tail -c 60000 "$log")
  [[ $rc == 0 || $rc == 77 || $s == cuda_programs ]] && return
  "$w/bin/$s" --list-test-names-only 2>/dev/null | sed 's/[[:space:]]*$//;/^$/d' >"$w/$s.names"
  at=$SECONDS
  # Commas and brackets mean something to Catch2.
  sed 's/[],[\\]/\\&/g' "$w/$s.names" | timeout -k 3 150 xargs -d '\n' -P 6 -I{} bash -c '
    timeout -k 2 40 "$0" "$1" >"$2.$$" 2>&1; rc=$?
    ((rc == 0)) || { echo "=== rc $rc: $1"; tail -c 1500 "$2.$$"; }
    rm -f "$2.$$"' "$w/bin/$s" {} "$w/case.$s" >"$w/$s.cases" 2>&1
  echo "  alone: $(grep -c '^=== ' "$w/$s.cases") of $(wc -l <"$w/$s.names") cases fail ($((SECONDS - at)) s):"
  grep '^=== ' "$w/$s.cases" | head -n 25
  keep "$out/cases.txt" "$s" "$w/$s.cases"
}
stage_suites() {
  local names=() s rc
  rm -f "$w"/*.cases "$out/suites.log" "$out/cases.txt"
  for s in "${suites[@]}"; do [[ -x $w/bin/$s ]] && names+=("$s"); done
  { printf '%s\n' "${names[@]}" | within 240 xargs -P 4 -I{} bash -c 'one_suite {}' 2>&1 || echo "suites: rc 124, not all of them ended"; } | tee "$w/suites.txt" | tee -a "$summary"
  if [[ -x $w/bin/digits_cuda ]]; then
    within 40 "$w/bin/digits_cuda" 1 examples/data/digits.csv >"$w/digits.log" 2>&1
    rc=$?
    grep -qE 'accuracy 9[5-9]' "$w/digits.log" || rc=1
    echo "digits_cuda: rc $rc: $(tail -n 1 "$w/digits.log")" | tee -a "$w/suites.txt" | tee -a "$summary"
  fi
  grep -qE ': rc [1-9]' "$w/suites.txt" && failures=1
  say "suites done"
}

# Calls of the API that fail belong to the design, as in scripts/test.sh.
one_sanitizer() {  # tool test seconds [case...]
  local tool=$1 s=$2 most=$3 log=$w/sanitizer.$1.$2.log at=$SECONDS options=() rc
  shift 3
  [[ -x $w/bin/$s ]] || return 0
  [[ $tool == memcheck ]] && options=(--track-stream-ordered-races all)
  timeout -k 3 "$most" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 --print-limit 20 "${options[@]}" "$w/bin/$s" "$@" >"$log" 2>&1
  rc=$?
  echo "$tool $s $*: rc $rc, $((SECONDS - at)) s: $(grep -aE 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1) $(closing "$log")"
  keep "$out/sanitizer.log" "$tool $s" <(head -c 30000 "$log")
}
stage_sanitizer() {
  rm -f "$out/sanitizer.log"
  command -v compute-sanitizer >/dev/null || { say "no compute-sanitizer"; return; }
  printf '%s\n' "memcheck test_cuda 100" "racecheck test_cuda 100" "synccheck test_cuda 100" "initcheck test_cuda 100" "memcheck test_golden_on_cuda 100" \
    "racecheck test_golden_on_cuda 100 *norm*,*softmax*,*reduc*" | within 110 xargs -d '\n' -P 6 -I{} bash -c 'set -f; one_sanitizer {}' 2>&1 | tee "$w/sanitizers.txt" | tee -a "$summary"
  # What ran out of time found nothing by then.
  grep -qE ': rc ([1-9]|[1-9][0-9]|1[013-9][0-9]|12[0-35-9]),' "$w/sanitizers.txt" && failures=1
}

# Nothing else runs meanwhile. A benchmark that does not run makes no test fail.
stage_bench() {
  : >"$out/bench.jsonl"
  within 75 "$w/bin/cuda_bench" 2>"$w/bench.err" | tee "$w/cuda.jsonl" >>"$out/bench.jsonl"
  say "cuda_bench: rc $?, $(wc -l <"$w/cuda.jsonl") rows $(tail -n 1 "$w/bench.err")"
  within 60 "$w/bin/bench_more" 2>>"$w/bench.err" | tee "$w/more.jsonl" >>"$out/bench.jsonl"
  say "bench_more: rc $?, $(wc -l <"$w/more.jsonl") rows"
}
stage_peers() {  # at once only: torch.compile takes minutes, stage `compile`
  touch "$w/cuda.jsonl" "$w/more.jsonl"
  within 60 python3 bench/cuda/peers.py --eager 2>"$w/peers.err" | tee "$w/peers.jsonl" >>"$out/bench.jsonl"
  say "peers.py: rc $?, $(wc -l <"$w/peers.jsonl") rows $(tail -n 1 "$w/peers.err")"
  within 60 python3 bench/cuda/peers_more.py 2>>"$w/peers.err" | tee "$w/more_peers.jsonl" >>"$out/bench.jsonl"
  say "peers_more.py: rc $?, $(wc -l <"$w/more_peers.jsonl") rows"
  cat "$w/cuda.jsonl" "$w/peers.jsonl" >"$w/both.jsonl"
  { python3 bench/cuda/report.py "$w/both.jsonl"; python3 bench/cuda/peers_more.py --table "$w/more.jsonl" "$w/more_peers.jsonl"; } 2>&1 | tee "$out/bench.md" | tee -a "$summary"
}
stage_ncu() {
  command -v ncu >/dev/null || { say "no ncu"; return; }
  local metrics=dram__throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics+=,launch__occupancy_limit_registers,smsp__inst_executed_op_local_ld.sum,l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
  within 50 ncu --clock-control none -k regex:'fused_kernel|element_kernel' -c 40 --csv --metrics "$metrics" "$w/bin/bench_more" "${NCU_ROWS:-_8192}" >"$out/ncu.csv" 2>&1
  say "ncu: rc $?, $(wc -l <"$out/ncu.csv") lines"
}
stage_compile() {
  within 150 python3 bench/cuda/peers.py 2>/dev/null | grep torch_compile >>"$out/bench.jsonl"
  say "torch.compile: $(grep -c torch_compile "$out/bench.jsonl") rows"
}

run() {
  local stage
  unpack
  export -f one_suite one_sanitizer closing keep
  (($#)) || set -- env smoke suites sanitizer bench peers ncu compile
  for stage in "$@"; do
    [[ $(type -t "stage_$stage") == function ]] || fail "there is no stage $stage"
    ((limit - (SECONDS - began) > 10)) || { say "no time left for $stage"; continue; }
    "stage_$stage"
  done
  say "end: $( ((failures)) && echo "something failed" || echo "nothing failed")"
  printf '\n===== summary\n'
  cat "$summary"
  return "$failures"
}

rebuild() {
  local tree=${TMPDIR:-/tmp}/tenure-device-tree target
  unpack
  [[ -n $nvcc ]] || fail "there is no nvcc"
  configure "$tree" -DCMAKE_PREFIX_PATH="$w/prefix" >"$w/configure.log" 2>&1 || { tail -n 15 "$w/configure.log"; fail "CMake failed"; }
  for target in "$@"; do
    if within 400 ninja -C "$tree" -j "$(nproc)" -k 0 "tests/cuda/$target" >"$w/rebuild.$target.log" 2>&1; then
      cp "$tree/tests/cuda/$target" "$w/bin/" && say "rebuilt $target"
    else
      failures=1
      say "not rebuilt: $target"
      grep -m 5 error "$w/rebuild.$target.log" | cut -c1-300
    fi
  done
  return "$failures"
}

command=${1:-}
shift
case $command in
  prepare | run | rebuild) "$command" "$@" ;;
  *)
    sed -n '3,9s/^# //p' "$0"
    exit 2
    ;;
esac
