#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# compile_and_run.sh <program> <compiler command...>
set -euo pipefail
program=$1
shift
"$@" -o "$program"
"$program"
