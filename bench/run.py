#!/usr/bin/env python3
"""Runs the kernel suite and prints, per kernel, Bessemer against the machine's limit and its peers.

    bench/run.py BUILD_DIR [--reps N] [--kernels a,b] [--quick]

Every repetition runs all backends one after another in one process, so that a ratio compares
neighbours in time. The metric is CPU time of the whole process over two, the time two free cores
need. A kernel's limit is the fastest of the hand-written reference, the peers and Metal. PoCL runs
with each of its settings; the best counts. Writes kernels.csv and kernels.png into BUILD_DIR/bench.
"""

import argparse
import csv
import io
import math
import os
import pathlib
import statistics
import subprocess
import sys

SETTINGS = {
    "default": {},
    "loopvec": {"POCL_WORK_GROUP_METHOD": "loopvec"},
    "loops": {"POCL_WORK_GROUP_METHOD": "loops"},
    "workitemrepl": {"POCL_WORK_GROUP_METHOD": "workitemrepl"},
}
# Compiling these under full replication takes minutes.
SKIPPED = {("workitemrepl", "softmax"), ("workitemrepl", "layernorm")}


def run(program, arguments, environment, timeout):
    env = dict(os.environ, POCL_KERNEL_CACHE="0", MESA_SHADER_CACHE_DISABLE="true", **environment)
    env.pop("OPENBLAS_CORETYPE", None)  # the reference's kernels are for this very processor
    try:
        done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(arguments)}: no answer in {timeout} s", file=sys.stderr)
        return []
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
    return list(csv.reader(io.StringIO(done.stdout)))


def geomean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--kernels", default="")
    parser.add_argument("--quick", action="store_true", help="native and metal only")
    options = parser.parse_args()
    program = options.build / "bin" / "kernel_bench"
    kernels = options.kernels.split(",") if options.kernels else [
        "saxpy", "gelu", "transpose", "reduce_local", "reduce_subgroup", "sgemm_naive",
        "sgemm_tiled", "sgemm_regblock", "softmax", "layernorm", "conv3x3", "mandelbrot", "nbody",
        "histogram", "q4_matvec", "gather", "bitonic"]

    rows, table = [], []
    for kernel in kernels:
        best = {}  # backend -> CPU ms over two, median
        checks = {}
        base = "native,metal" if options.quick else "native,metal,pocl,lavapipe"
        runs = [("default", base)]
        if not options.quick:
            runs += [(s, "native,pocl") for s in SETTINGS if s != "default"
                     and (s, kernel) not in SKIPPED]
        for setting, backends in runs:
            for row in run(program, ["--kernels", kernel, "--backends", backends, "--reps",
                                     str(options.reps if setting == "default" else 3),
                                     "--tag", setting], SETTINGS[setting], 300):
                rows.append(row)
                backend, cpu = row[3], float(row[7]) / 2
                if row[14].startswith("WRONG"):
                    checks[backend] = row[14]
                    continue
                best[backend] = min(best.get(backend, math.inf), cpu)
        if "metal" not in best or "native" not in best:
            print(f"{kernel}: no result {checks.get('metal', '')}")
            continue
        limit = min(best.values())
        table.append((kernel, best["metal"], best.get("pocl", math.nan),
                      best.get("lavapipe", math.nan), limit))
        k, ours, pocl, lavapipe, limit = table[-1]
        print(f"{k:16s} ours {ours:8.2f}  pocl {pocl:8.2f}  lavapipe {lavapipe:8.2f}  limit "
              f"{limit:8.2f} ms   ours/limit {ours / limit:5.2f}   pocl/ours {pocl / ours:6.2f}"
              f"  {checks.get('metal', '')}", flush=True)

    ratios = [t[1] / t[4] for t in table]
    pocl = [t[2] / t[1] for t in table if not math.isnan(t[2])]
    print(f"geomean vs best pocl  {geomean(pocl):.2f}x faster")
    print(f"geomean vs limit      {geomean(ratios):.2f}x its time")
    backends = "metal" if options.quick else "metal,pocl,lavapipe"
    for row in run(program, ["--empty", "--backends", backends], {}, 300):
        rows.append(row)
        if row[3] == "metal":
            print(f"empty dispatch {row[2]:12s} {float(row[5]):.3f} us")

    out = options.build / "bench"
    out.mkdir(exist_ok=True)
    with open(out / "kernels.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    draw(table, out / "kernels.png")


def draw(table, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: matplotlib is not installed (scripts/setup --bench)", file=sys.stderr)
        return
    figure, axis = plt.subplots(figsize=(10, 0.4 * len(table) + 1.5))
    for offset, (name, column) in enumerate((("Bessemer", 1), ("PoCL, best setting", 2),
                                             ("lavapipe", 3))):
        axis.barh([i + 0.27 * (offset - 1) for i in range(len(table))],
                  [row[column] / row[4] for row in table], height=0.25, label=name)
    axis.set_yticks(range(len(table)), [row[0] for row in table])
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("CPU time over the machine's limit (1 = the limit)")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"{path}")


if __name__ == "__main__":
    main()
