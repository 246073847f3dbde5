#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# rehearse.sh <scratch>: scripts/on_gpu.sh, test.sh --cuda and bench.sh --cuda without nvcc, a GPU, a network and packages, in a copy of the
# checkout. Compilers, suites and tools are scripts of a few lines here: some suites pass, one fails in one case and crashes in another, and
# one unit does not compile.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd) scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch/fakes" "$scratch/checkout/tests"
cp -r "$root"/{include,kernels,scripts,bench,examples} "$scratch/checkout"
failures=0
expect() {  # what condition...
  "${@:2}" && return
  echo "FAILED: $1"
  failures=$((failures + 1))
}
says() { grep -qE -- "$2" "$1"; }
fake() { { echo '#!/usr/bin/env bash'; cat; } >"$scratch/fakes/$1" && chmod +x "$scratch/fakes/$1"; }

export SCRATCH=$scratch OUT=$scratch/out W=$scratch/work TMPDIR=$scratch JOBS=2 PATH=$scratch/fakes:$PATH
unset CXX CMAKE_PREFIX_PATH CUDAARCHS
cd "$scratch" || exit 1  # a script finds its checkout by itself
ln -s checkout/build/device kit

fake dpkg-query <<<'exit 1'
for never in apt-get curl wget pip sudo; do fake "$never" <<<'echo "$0 $*" >>"$SCRATCH/never"; exit 1'; done
fake cmake <<'E'
echo "cmake $*" >>"$SCRATCH/calls"
while (($#)); do [[ $1 == -B ]] && mkdir -p "$2"; shift; done
exit 0
E
fake ctest <<<'echo "100% tests passed"'
fake git <<<'echo "a revision"'
fake nice <<<'[[ $1 == -n ]] && shift 2; exec "$@"'
fake strip <<<'exit 0'
# Cases are on the host in one unit, and on the device in another, of so many symbols that nobody reads them to the end.
fake nm <<'E'
[[ $1 == *on_the_host* ]] || echo "0000 t __device_stub__something"
[[ $1 == *good* || $1 == *on_the_host* ]] && echo "0000 t Catch::AutoReg"
for ((i = 0; i < 20000; ++i)); do echo "0000 t something_else_$i"; done
E
fake nvidia-smi <<<'echo "GPU 0: a card of paper (UUID)"'
fake ldconfig <<<'echo "libcublas.so.13 => /nowhere/libcublas.so.13"'
fake ncu <<<'echo "$*" >>"$SCRATCH/calls"; echo "a,b"'
# A program of Catch2 with three cases. What it shows is in a file: pass, fail or skip.
cat >"$scratch/suite" <<'E'
#!/usr/bin/env bash
shows=$(cat "$SCRATCH/shows.${0##*/}" 2>/dev/null)
case "${1:-}" in
  --list-test-names-only) printf 'good\nbad, with a comma\ncrash [x]\n'; exit ;;
  good | cuda:*) echo 'All tests passed (3 assertions in 1 test case)'; exit ;;
  'bad\, with a comma') echo 'test cases: 1 | 1 failed'; exit 1 ;;
  'crash \[x\]') kill -SEGV $$ ;;
esac
[[ $shows == hang ]] && { echo $$ >"$SCRATCH/hanging"; exec sleep 60; }
[[ $shows == fail ]] && { echo 'test cases: 3 | 2 failed'; exit 2; }
[[ ${0##*/} == *bench* ]] && echo '{"name": "forward_f32/tenure/4", "milliseconds": 2, "of_copy_bandwidth": 0.5}'
[[ ${0##*/} == digits_cuda ]] && echo 'accuracy 97.1'
echo 'All tests passed (9 assertions in 3 test cases)'
E
chmod +x "$scratch/suite"
fake ninja <<'E'
while [[ $1 == -* ]]; do [[ $1 == -C ]] && tree=$2; shift 2; done
target=${1##*/} objects=$tree/tests/cuda/CMakeFiles/${1##*/}.dir
[[ $target == test_optim_on_cuda ]] && exit 1
mkdir -p "$objects"
touch "$objects/cuda_main.cu.o" "$objects/good.cpp.o"
[[ $target == test_laws_on_cuda ]] && touch "$objects/on_the_host.cpp.o"
[[ $target == test_golden_on_cuda && ! -e $SCRATCH/fixed ]] && { echo "FAILED: tests/cuda/CMakeFiles/$target.dir/edge.cpp.o"; exit 1; }
cp "$SCRATCH/suite" "$tree/tests/cuda/$target"
E
fake nvcc <<'E'
echo "nvcc $*" >>"$SCRATCH/calls"
while (($#)); do [[ $1 == -o ]] && cp "$SCRATCH/suite" "$2"; shift; done
exit 0
E
fake compute-sanitizer <<'E'
echo "sanitizer $*" >>"$SCRATCH/calls"
echo '========= ERROR SUMMARY: 0 errors'
E
python=$(command -v python3)
fake python3 <<E
case "\$*" in
  *peers.py*) echo '{"name": "forward_f32/torch_eager/4", "milliseconds": 3}' ;;
  *--table*) exec "$python" "\$@" ;;
  *peers_more.py*) echo '{"name": "add", "by": "torch", "ms": 3}' ;;
  *) exec "$python" "\$@" ;;
esac
E

# ---- prepare
"checkout/scripts/on_gpu.sh" prepare >prepare.log 2>&1 || expect "prepare ends well: $(tail -n 3 prepare.log)" false
for file in bin.tar.xz prefix.tar.xz revision.txt failed.txt; do expect "prepare packs $file" test -s "kit/carry/$file"; done
expect "a unit that does not compile is named" says kit/failed.txt 'test_golden_on_cuda: 1 units do not compile: edge.cpp'
expect "the suite is linked without it" test -x kit/bin/test_golden_on_cuda
expect "a unit without a kernel is named" says kit/failed.txt 'test_laws_on_cuda: on_the_host.cpp has no kernel'
expect "and no other one" test "$(grep -c 'has no kernel' kit/failed.txt)" = 1
expect "a suite that does not build is left out" test ! -e kit/bin/test_optim_on_cuda
expect "the benchmarks are built" test -x kit/bin/bench_more
tar -tf kit/carry/prefix.tar.xz >prefix.log
expect "the prefix has Boost.Hana" says prefix.log 'boost/hana/tuple.hpp'
expect "the code is for one architecture" says calls 'CMAKE_CUDA_ARCHITECTURES=90-real'

# ---- run: all passes
"checkout/scripts/on_gpu.sh" run >run.log 2>&1 || expect "run ends well: $(cat run.log)" false
expect "no test failed" says out/summary.txt 'nothing failed'
expect "each suite is in the summary" says out/summary.txt 'test_transform_on_cuda: rc 0.*All tests passed'
expect "the training is in the summary" says out/summary.txt 'digits_cuda: rc 0: '
expect "no more than eight files" test "$(find out -type f | wc -l)" -le 8
expect "memcheck follows memory of a pool" says calls 'tool memcheck --report-api-errors no .*--track-stream-ordered-races all .*test_cuda'
expect "racecheck has no such option" says calls 'tool racecheck --report-api-errors no --error-exitcode 1 --print-limit 20 [^ ]*test_cuda'
expect "the table has both" says out/bench.md 'forward_f32 . 4 . 2 . 0.50 of the copy bandwidth . 0.67'

# ---- run: one suite fails
rm -rf out
echo fail >shows.test_eager_on_cuda
if "checkout/scripts/on_gpu.sh" run env smoke suites >run.log 2>&1; then expect "run fails where a test does" false; fi
expect "the failed suite is named" says out/summary.txt 'test_eager_on_cuda: rc 2'
expect "its cases ran alone" says out/summary.txt 'alone: 2 of 3 cases fail'
expect "a case with a comma in its name" says out/cases.txt '^=== rc 1: bad\\, with a comma'
expect "a case that crashes" says out/cases.txt '^=== rc 139: crash'
rm -rf out
LIMIT=4 "checkout/scripts/on_gpu.sh" run >run.log 2>&1
expect "nothing begins after the limit" says out/summary.txt 'no time left for suites'

# ---- run: the machine goes while a suite runs
rm -rf out
echo hang >shows.test_laws_on_cuda
setsid "checkout/scripts/on_gpu.sh" run env smoke suites >run.log 2>&1 &
for ((i = 0; i < 300; ++i)); do says out/summary.txt 'test_transform_on_cuda: rc 0' 2>/dev/null && says out/suites.log '^##### test_transform_on_cuda' 2>/dev/null && break; sleep 0.1; done
kill -KILL -- -$! 2>/dev/null
[[ -e hanging ]] && kill "$(cat hanging)" 2>/dev/null
rm -f shows.test_laws_on_cuda
expect "what has ended by then is there" test "$i" -lt 300

# ---- rebuild
touch fixed
"checkout/scripts/on_gpu.sh" rebuild test_golden_on_cuda >rebuild.log 2>&1 || expect "rebuild ends well: $(cat rebuild.log)" false
expect "CMake finds the carried packages" says calls "CMAKE_PREFIX_PATH=$scratch/work/prefix"
expect "the rebuilt suite is named" says rebuild.log 'rebuilt test_golden_on_cuda'

# ---- the scripts that build there, where Eigen, Boost and Catch2 lie below the carried prefix or are installed
export CMAKE_PREFIX_PATH=$scratch/work/prefix
for script in test bench; do
  "checkout/scripts/$script.sh" --cuda >"$script.log" 2>&1 || expect "$script.sh --cuda ends well: $(tail -n 5 "$script.log")" false
done
expect "test.sh counts no failed calls of the API" says calls 'tool synccheck --report-api-errors no --error-exitcode 1 build/test-cuda/tests/cuda/test_cuda'
expect "its memcheck follows memory of a pool" says calls 'tool memcheck --report-api-errors no --track-stream-ordered-races all --error-exitcode 1 build/test-cuda'
expect "bench.sh compiles with the carried headers" says calls "-isystem$scratch/work/prefix/include"
expect "nothing asked for a network or a package: $(cat never 2>/dev/null)" test ! -e never
((failures == 0)) && echo "all as it should be"
exit $((failures > 0))
