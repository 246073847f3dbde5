# SPDX-License-Identifier: BSL-1.0
# Sourced by the scripts beside it: numbered steps, Debian packages, the compilers and the number of jobs.
# A script sets `steps` (how many it takes) first.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

step_number=0
step() {
  step_number=$((step_number + 1))
  printf '\n[%d/%d] %s\n' "$step_number" "$steps" "$*"
}

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_packages <package>...: those that dpkg does not have. Elsewhere than on Debian and Ubuntu, it says what is wanted.
install_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    echo "not a Debian system: taking what is here; wanted are $*"
    return
  fi
  local missing=() package sudo=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "all here: $*"
    return
  fi
  echo "installing ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "not root and no sudo; install by hand: ${missing[*]}"
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install ${missing[*]}"
}

build_packages=(cmake ninja-build libeigen3-dev libboost-dev)

# The g++ to use: $CXX where set; otherwise g++, or g++-12 where the system's own is older (Ubuntu 22.04).
install_compiler() {
  if [[ -n ${CXX:-} ]]; then
    gxx=$CXX
    echo "compiler: $gxx (from CXX)"
    return
  fi
  install_packages g++
  gxx=g++
  if (($(g++ -dumpversion | cut -d. -f1) < 12)); then
    install_packages g++-12
    gxx=g++-12
  fi
  echo "compiler: $("$gxx" --version | head -n 1)"
}

# A translation unit can take 1.5 GB, so a machine short of memory gets fewer jobs than cores.
jobs=$(nproc)
if [[ -r /proc/meminfo ]]; then
  by_memory=$(awk '/^MemAvailable/ { n = int($2 / 1500000); print n < 1 ? 1 : n }' /proc/meminfo)
  ((by_memory < jobs)) && jobs=$by_memory
fi
jobs=${JOBS:-$jobs}
