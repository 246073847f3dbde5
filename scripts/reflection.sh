#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# reflection.sh          models without macros: the tests of tests/reflection and some others with g++ 16 and -std=c++26 -freflection, without warnings.
#                        Without a g++-16 they run in a root of Debian sid that debootstrap makes in build/sid, as root; elsewhere they are skipped (status 77).
# reflection.sh --root DIR   the same in a root that is there. It has g++-16, libeigen3-dev, libboost-dev and catch2 (version 3).
set -euo pipefail
root=""
if [[ ${1:-} == --root && $# == 2 ]]; then
  root=$(realpath "$2")
elif (($#)); then
  sed -n '3,5s/^# //p' "$0"
  exit 2
fi
steps=3
source "$(dirname "$0")/common.sh"

step "the compiler"
mounted=""
trap '[[ -z $mounted ]] || umount --lazy "$mounted"' EXIT  # lazy: after a signal a compiler may not have ended yet
if [[ -z $root ]] && ! command -v g++-16 >/dev/null; then
  if ((EUID != 0)) || ! command -v debootstrap >/dev/null; then
    echo "skipped: there is no g++-16, and no root and debootstrap to make a root of Debian sid with it"
    exit 77
  fi
  root=$PWD/build/sid
  if [[ ! -e $root/usr/bin/g++-16 ]]; then
    mkdir -p "$root"
    debootstrap --variant=minbase --include=g++-16,libc6-dev,libeigen3-dev,libboost-dev,catch2 sid "$root" >"$root.log" 2>&1 || {
      echo "skipped: debootstrap could not make a root of Debian sid, see $root.log"
      exit 77
    }
  fi
fi
out=$PWD/build/reflection
if [[ -n $root ]]; then
  mkdir -p "$root/tenure"
  mount --bind "$PWD" "$root/tenure"
  mounted=$root/tenure
fi
mkdir -p "$out"

# in_root <command>: in the root if there is one. Its folder is the one of the repository.
in_root() {
  if [[ -n $root ]]; then
    chroot "$root" bash -c "cd /tenure && $1"
  else
    bash -c "$1"
  fi
}
compile="g++-16 -std=c++26 -freflection -O1 -Wall -Wextra -Werror -Iinclude -Itests -I. -Ikernels -isystem /usr/include/eigen3 -DTENURE_QUICK_TESTS=1 '-DTENURE_SOURCE_DIR=\".\"'"
in_root "g++-16 --version | head -1"

step "programs that run"
failed=0
for source in tests/reflection/{models,marks,names,example}.cpp tests/{transform/tree_map,transform/init,optim/groups,batch/models,inspect/debug_nans,inspect/picture,optim/optim,interop/saved_states}.cpp; do
  libraries="-lCatch2Main -lCatch2"
  [[ $source == */example.cpp ]] && libraries="-Wpedantic -Wshadow -Wconversion -Wold-style-cast"
  program=build/reflection/$(basename "$source" .cpp)
  if in_root "$compile $source $libraries -o $program && $program" >"$out/log" 2>&1; then
    echo "passed: $source"
  else
    failed=1
    echo "failed: $source"
    tail -n 20 "$out/log"
  fi
done

step "programs that must not compile"
for source in tests/reflection/compile_fail/*.cpp; do
  expected=$(sed -n 's|^// expect: ||p' "$source")
  if in_root "$compile -fsyntax-only $source" >"$out/log" 2>&1 && ! in_root "$compile -fsyntax-only -DTENURE_MISUSE $source" >"$out/log" 2>&1 &&
    grep -m 1 'error:' "$out/log" | grep -qF -- "$expected"; then
    echo "passed: $source"
  else
    failed=1
    echo "failed: $source"
    head -n 5 "$out/log"
  fi
done
exit "$failed"
