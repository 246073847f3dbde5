#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""nvcc.py [runs]: what tests/kernels/nvcc cost nvcc for sm_90, stage by stage, over an empty file.

Seconds, user and system, of all processes of a stage, the least of several runs (3).
CXX is the host compiler, NVCC the nvcc.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
files = ["empty", "include", "nodes_64", "nodes_256"]
stages = ["preprocessing", "cudafe++", "cicc", "ptxas", "g++"]


def stage_of(command):
    if " -E " in command:
        return "preprocessing"
    name = pathlib.Path(command.split()[0].strip('"')).name
    return name if name in stages else "g++"  # fatbinary takes nothing


def commands_of(file, folder):
    """The environment and the commands that nvcc would run."""
    flags = ["-std=c++20", "-O2", "--expt-relaxed-constexpr", "-arch=sm_90", f"-I{root}/include", f"-I{root}/kernels"]
    call = [os.environ.get("NVCC", "nvcc"), "-ccbin", os.environ.get("CXX", "g++"), *flags, "--keep", "--keep-dir", folder, "--dryrun"]
    told = subprocess.run([*call, "-c", root / f"tests/kernels/nvcc/{file}.cu", "-o", f"{folder}/{file}.o"], stderr=subprocess.PIPE, text=True, check=True)
    environment, commands = dict(os.environ), []
    for line in told.stderr.splitlines():
        line = line.removeprefix("#$ ")
        setting = re.match(r"(\w+)=(.*)$", line)
        if setting:
            environment[setting[1]] = setting[2].strip()
        elif not line.startswith("rm "):
            commands.append(line)
    return environment, commands


def measure(file, runs):
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        environment, commands = commands_of(file, folder)
        for _ in range(runs):
            taken = dict.fromkeys(stages, 0.0)
            for command in commands:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, shell=True, executable="/bin/bash", env=environment, check=True, stderr=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                taken[stage_of(command)] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best = {stage: min(seconds, best.get(stage, seconds)) for stage, seconds in taken.items()}
    return best


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    empty = None
    print("| file | seconds | " + " | ".join(stages) + " |\n|" + "---|" * (len(stages) + 2))
    for file in files:
        taken = measure(file, runs)
        empty = empty or taken
        over = taken if file == "empty" else {stage: taken[stage] - empty[stage] for stage in stages}
        print(f"| {file} | {sum(over.values()):.1f} | " + " | ".join(f"{over[stage]:.2f}" for stage in stages) + " |", flush=True)


main()
