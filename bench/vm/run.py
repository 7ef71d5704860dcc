#!/usr/bin/env python3
"""Races the interpreter against IREE's own on loops of host arithmetic (loops.mlir), in one run.

  bench/vm/run.py BUILD [--loops a,b] [--reps N]

Needs iree-base-compiler and iree-base-runtime (scripts/setup --bench). Each loop runs alternately in
both; the smallest CPU time of the repetitions counts. Results must be equal. Ends with exit code 1
when they are not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / ".venv" / "bin"
STEPS = 1_000_000


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr}")
    return done.stdout


def nanoseconds(command):
    """CPU time of a step of the loop."""
    report = json.loads(run(command + ["--benchmark_format=json", "--benchmark_min_time=0.1"]))
    entry = report["benchmarks"][0]
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[entry["time_unit"]]
    return entry["cpu_time"] * unit / STEPS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--loops", help="only these, with commas between")
    parser.add_argument("--reps", type=int, default=3)
    arguments = parser.parse_args()
    text = (HERE / "loops.mlir").read_text()
    loops = [line.split("@")[1].split("(")[0] for line in text.splitlines()
             if line.startswith("func.func @")]
    if arguments.loops:
        loops = [loop for loop in loops if loop in arguments.loops.split(",")]
    bessemer = arguments.build / "bin" / "bessemer"
    equal = True
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder) / "loops.vmfb"
        run([TOOLS / "iree-compile", HERE / "loops.mlir", "--iree-hal-target-device=metal",
             "--iree-input-demote-f64-to-f32=false", "--iree-vm-target-extension-f64",
             "-o", module])
        print(f"{'loop':16} {'ours':>8} {'IREE':>8}  ns a step   IREE / ours")
        for loop in loops:
            call = [f"--module={module}", f"--function={loop}", f"--input={STEPS}"]
            ours_text = run([bessemer, "run", *call]).splitlines()[-1]
            theirs_text = run([TOOLS / "iree-run-module", "--device=local-sync",
                               *call]).splitlines()[-1]
            ours, theirs = [], []
            for _ in range(arguments.reps):
                ours.append(nanoseconds([bessemer, "bench", *call]))
                theirs.append(nanoseconds([TOOLS / "iree-benchmark-module",
                                           "--device=local-sync", *call]))
            print(f"{loop:16} {min(ours):8.2f} {min(theirs):8.2f} {min(theirs) / min(ours):18.2f}",
                  flush=True)
            if ours_text != theirs_text:
                equal = False
                print(f"  results differ: {ours_text} and {theirs_text}")
    sys.exit(not equal)


if __name__ == "__main__":
    main()
