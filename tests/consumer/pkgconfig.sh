#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# pkgconfig.sh <pkg-config> <folder of tenure.pc> <version wanted> <program> <compiler command...>
set -euo pipefail
pkg_config=$1 version=$3
export PKG_CONFIG_PATH=$2
shift 3
[[ $("$pkg_config" --modversion tenure) == "$version" ]]
read -ra flags <<<"$("$pkg_config" --cflags tenure)"
exec "$(dirname "$0")/compile_and_run.sh" "$@" "${flags[@]}"
