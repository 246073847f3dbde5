#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# shared_names.sh NM OBJECT...: fails if two of the objects define the same function or variable of Tenure.
set -euo pipefail
nm=$1
shift
for object in "$@"; do
  "$nm" --defined-only "$object" | awk '$2 ~ /[VWuBDRT]/ && $3 ~ /6tenure/ { print $3 }' | sort -u
done | sort | uniq -d | c++filt >shared_names.txt
count=$(wc -l <shared_names.txt)
echo "$count names of Tenure stand in two of $# objects"
head -n 20 shared_names.txt
((count == 0))
