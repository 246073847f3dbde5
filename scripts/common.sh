# SPDX-License-Identifier: BSL-1.0
# Functions for the other scripts in this folder, which source this file: numbered steps, Debian packages, the compilers and the number
# of jobs. A script sets `steps`, the number of its steps, first.

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

# install_packages <package>...: installs the packages that dpkg does not have. On systems other than Debian and Ubuntu it prints the list.
install_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    echo "not a Debian system, so nothing is installed; these packages are needed: $*"
    return
  fi
  local missing=() package sudo=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "already installed: $*"
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

# The headers below the folders of CMAKE_PREFIX_PATH, for calls of a compiler that CMake does not make.
IFS=: read -ra prefix_flags <<<"${CMAKE_PREFIX_PATH:-}"
prefix_flags=("${prefix_flags[@]/#/-isystem}")
prefix_flags=("${prefix_flags[@]/%//include}")

# finds <header>...: whether the compiler finds all of them. Then nothing has to be installed: a machine with a GPU may have neither a network
# nor a package manager.
finds() {
  printf '#include <%s>\n' "$@" |
    "${CXX:-g++}" -std=c++20 "${prefix_flags[@]}" "${prefix_flags[@]/%//eigen3}" -isystem/usr/include/eigen3 -x c++ -E - >/dev/null 2>&1
}

build_packages=(cmake ninja-build libeigen3-dev libboost-dev)
mpi_packages=(libopenmpi-dev openmpi-bin)

# more_ranks_than_cores <command> [<argument>...]: lets Open MPI 4 and 5 start more processes than there are cores, also as root, as in
# cmake/TenureDevelopment.cmake.
more_ranks_than_cores() {
  env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none "$@"
}

# The g++ to use: $CXX if it is set, otherwise g++, or g++-12 if the g++ of the system is older (Ubuntu 22.04).
install_compiler() {
  if [[ -n ${CXX:-} ]]; then
    gxx=$CXX
    echo "compiler: $gxx (from CXX)"
    return
  fi
  command -v g++ >/dev/null || install_packages g++
  gxx=g++
  if (($(g++ -dumpversion | cut -d. -f1) < 12)); then
    install_packages g++-12
    gxx=g++-12
  fi
  echo "compiler: $("$gxx" --version | head -n 1)"
}

# A translation unit can take 1.5 GB, so a machine with little memory gets fewer jobs than cores.
jobs=$(nproc) memory=$((1500000 * jobs))  # in kB
if [[ -r /proc/meminfo ]]; then
  memory=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
  by_memory=$((memory < 1500000 ? 1 : memory / 1500000))
  ((by_memory < jobs)) && jobs=$by_memory
fi
jobs=${JOBS:-$jobs}
