#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""merge.py FOLDER RESULT [key=value...]: joins the Google Benchmark files FOLDER/<program>.<pass>.json into RESULT, with the pairs in its context.

Each row says which pass it is from.
"""
import json
import sys
from pathlib import Path

folder, result, *pairs = sys.argv[1:]
reports = [(path.stem.rpartition(".")[2], json.loads(path.read_text())) for path in sorted(Path(folder).glob("*.json"))]
if not reports:
    sys.exit("merge.py: no benchmark matches the filter")
if not all(number.isdigit() for number, _ in reports):
    sys.exit(f"merge.py: files in {folder} are named <program>.<pass>.json")
context = reports[0][1]["context"] | dict(pair.split("=", 1) for pair in pairs)
rows = [row | {"pass": number} for number, report in reports for row in report["benchmarks"]]
Path(result).write_text(json.dumps({"context": context, "benchmarks": rows}, indent=1) + "\n")
print(f"{len(rows)} rows in {result}")
