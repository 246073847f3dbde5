#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# timed.sh <log> <compiler> <arguments>...: runs the compiler, and appends to the log its seconds of CPU and the source, behind the last -c.
set -u
log=$1
shift
exec 3>&1 4>&2
TIMEFORMAT='%U %S'
seconds=$({ time "$@" >&3 2>&4 3>&- 4>&-; } 2>&1)
status=$?
source=
for ((i = 1; i < $#; ++i)); do
  [[ ${!i} == -c ]] && source=${*:i+1:1}
done
read -r user system <<<"$seconds"
printf '%s %s %s\n' "${user:-0}" "${system:-0}" "$source" >>"$log" || true  # a full disk must not fail a compilation twice
exit "$status"
