#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# mutate.sh [-n 20] [--seed 1] include/tenure/passes    would the tests notice a mistake? mutate.py --help tells the rest
exec python3 "$(dirname "$0")/mutate.py" "$@"
