#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""report.py <file>: the rows of cuda_bench and peers.py, one JSON object a line, as a Markdown table."""
import json
import sys

limits = {"of_copy_bandwidth": "of the copy bandwidth", "of_matrix_peak": "of the matrix peak"}
peers = ["torch_eager", "torch_compile"]


def table(lines):
    rows, limited = {}, {}
    for line in lines:
        row = json.loads(line)
        workload, implementation, size = row["name"].split("/")
        rows.setdefault((workload, int(size)), {})[implementation] = row["milliseconds"]
        for key, words in limits.items():
            if key in row:
                limited[workload, int(size)] = f"{row[key]:.2f} {words}"
    yield "| workload | size | Tenure, ms | Tenure's rate | Tenure's time / PyTorch eager | / torch.compile |"
    yield "|---|---|---|---|---|---|"
    for (workload, size), row in rows.items():
        if "tenure" in row:
            ratios = [f"{row['tenure'] / row[peer]:.2f}" if peer in row else "" for peer in peers]
            yield f"| {workload} | {size} | {row['tenure']:.4g} | {limited[workload, size]} | {' | '.join(ratios)} |"


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print("\n".join(table(line for line in file if line.startswith("{"))))
