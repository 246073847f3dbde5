# SPDX-License-Identifier: BSL-1.0
# What the scripts beside this file check with. They set `program`, and end with: exit "$failed".
failed=0
expect() { # <what> <command...>
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what"
    failed=1
  fi
}

# refuses <what> <pattern> <argument...>: a non-zero exit, one line on standard error, nothing on standard output.
refuses() {
  local status=0 what=$1 pattern=$2
  shift 2
  "$program" "$@" >out.txt 2>err.txt || status=$?
  echo "$what: $(cat err.txt)"
  expect "$what: exit status 1, not $status" test "$status" -eq 1
  expect "$what: the message" grep -qE "$pattern" err.txt
  expect "$what: one line" test "$(wc -l <err.txt)" -eq 1
  expect "$what: nothing before" test ! -s out.txt
}
