#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# site.sh [DIR]   builds the documentation as a site, in DIR or build/site: the README, the chapters, and a reference of the public names
# from their docstrings. It checks every link and anchor. Open DIR/index.html; no server is needed.
set -euo pipefail
folder=$(realpath -m "${1:-build/site}")
steps=2
source "$(dirname "$0")/common.sh"

step "packages"
python=${TENURE_NUMPY_PYTHON:-python3}
has_modules() { "$1" -c 'import markdown_it, pygments' >/dev/null 2>&1; }
if ! has_modules "$python"; then
  python=build/site-python/bin/python
  if ! has_modules "$python"; then
    install_packages python3-venv
    python3 -m venv build/site-python
    "$python" -m pip install -q markdown-it-py pygments
  fi
fi

step "the site"
"$python" scripts/site.py "$folder"
