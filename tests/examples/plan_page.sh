#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# plan_page.sh <program> <folder>: the page of a plan in a browser without a window. The program writes plan.html. The script of the page must
# draw each arrow, and open a card that the address names. Exit status 77: there is no Chromium.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
  echo "no Chromium: the page is not looked at"
  exit 77
fi
mkdir -p "$2"
cd "$2"
"$1" >/dev/null

# dom <address> <file>: the page after its script has run.
dom() {
  "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1600,1000 --virtual-time-budget=2000 --dump-dom "$1" >"$2" 2>browser.txt
}
dom "file://$PWD/plan.html" all.html
wires=$(grep -o 'data-from="' plan.html | wc -l)
expect "there are arrows" test "$wires" -ge 3
expect "the script drew $wires arrows" grep -q "<html lang=\"en\" data-drawn=\"$wires\">" all.html
expect "each arrow has a path" test "$(grep -cE '<path [^>]*data-from="[^>]* d="M-?[0-9]' all.html)" -eq "$wires"
expect "no place is missing in a path" test "$(grep -cE ' d="[^"]*(NaN|undefined|Infinity)' all.html)" -eq 0
expect "no card is chosen" grep -q '<section class="panel" id="nodes"><h2>Nodes</h2>' all.html

dom "file://$PWD/plan.html#step=1" chosen.html
expect "step 1 is open" grep -q '<section class="panel" id="nodes"><h2>step 1</h2><ol>' chosen.html
expect "one card is chosen" test "$(grep -c 'class="card [a-z]* pinned"' chosen.html)" -eq 1
expect "its memory is marked" grep -qE '<rect class="[a-z ]*lit" data-steps="([0-9]+ )*1( [0-9]+)*"' chosen.html

"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --hide-scrollbars --window-size=1600,1000 --screenshot=plan.png "file://$PWD/plan.html" >browser.txt 2>&1
expect "a screenshot" test "$(head -c 4 plan.png | tail -c 3)" = PNG
expect "which is no empty page" test "$(wc -c <plan.png)" -gt 30000
exit "$failed"
