#!/usr/bin/env python3
"""Runs the kernel suite and prints, per kernel, Bessemer against the machine's limit and its peers.

    bench/run.py BUILD_DIR [--reps N] [--kernels a,b] [--quick]

Every repetition runs all backends one after another in one process, so that a ratio compares
neighbours in time. The metric is CPU time of the whole process over two, the time two free cores
need. PoCL runs with each of its settings, one process each; a setting counts by its ratio to the
reference that ran beside it, and the best of them is PoCL's time. A kernel's limit is the fastest of
the hand-written reference, the peers and Metal. Writes every measurement to kernels.csv and the
table to table.csv and kernels.png in BUILD_DIR/bench.
"""

import argparse
import csv
import io
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

KERNELS = ["saxpy", "gelu", "transpose", "reduce_local", "reduce_subgroup", "sgemm_naive",
           "sgemm_tiled", "sgemm_regblock", "softmax", "layernorm", "conv3x3", "mandelbrot",
           "nbody", "histogram", "q4_matvec", "gather", "bitonic"]
SETTINGS = {
    "loopvec": {"POCL_WORK_GROUP_METHOD": "loopvec"},
    "loops": {"POCL_WORK_GROUP_METHOD": "loops"},
    "workitemrepl": {"POCL_WORK_GROUP_METHOD": "workitemrepl"},
    "parallel_outer": {"POCL_FORCE_PARALLEL_OUTER_LOOP": "1"},
    "no_fast_math": {"BENCH_CL_OPTIONS": "-cl-std=CL1.2"},
}
# Full replication of work items takes PoCL minutes to compile for some kernels: it is cut off.
SETTING_CPU_SECONDS = 30
BACKENDS = ("metal", "pocl", "lavapipe")
COLUMNS = ["kernel", "ours ms", "pocl ms", "pocl setting", "lavapipe ms", "limit ms", "limit of",
           "ours/limit", "pocl/ours", "lavapipe/ours"]


def run(program, arguments, environment, cpu_seconds):
    """The CSV rows that the benchmark program prints, or None where it fails or is cut off."""
    env = dict(os.environ, POCL_KERNEL_CACHE="0", MESA_SHADER_CACHE_DISABLE="true", **environment)
    env.pop("OPENBLAS_CORETYPE", None)  # the reference's kernels are for this very processor
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True,
                          preexec_fn=limit)
    if done.returncode:
        if done.stderr.strip():
            print(done.stderr.strip(), file=sys.stderr)
        return None
    return list(csv.reader(io.StringIO(done.stdout)))


def medians(rows):
    """Backend -> (CPU ms over two, its ratio to the first backend), and backend -> check, of a run."""
    times = {row[3]: (float(row[7]) / 2, float(row[11])) for row in rows}
    return times, {row[3]: row[14] for row in rows}


def geomean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def measure(program, kernel, options, rows):
    """One row of the table: {column: value}."""
    arguments = ["--kernels", kernel, "--reps", str(options.reps)]
    backends = "native,metal" if options.quick else "native,metal,pocl,lavapipe"
    found = run(program, [*arguments, "--backends", backends], {}, 600)
    if found is None:
        sys.exit(f"{kernel}: no result")
    rows += found
    times, checks = medians(found)
    wrong = [f"{backend}: {check}" for backend, check in checks.items()
             if check.startswith("WRONG")]
    time_of = {backend: milliseconds for backend, (milliseconds, _) in times.items()
               if not checks[backend].startswith("WRONG")}
    pocl = {"default": time_of["pocl"]} if "pocl" in time_of else {}
    for setting, environment in {} if options.quick else SETTINGS.items():
        found = run(program, ["--kernels", kernel, "--reps", "5", "--budget", "2", "--tag", setting,
                              "--backends", "native,pocl"], environment, SETTING_CPU_SECONDS)
        if found is None:
            rows.append(["steady", setting, kernel, "pocl", f"none in {SETTING_CPU_SECONDS} s"])
            continue
        rows += found
        times, checks = medians(found)
        if checks["pocl"].startswith("WRONG"):
            wrong.append(f"pocl {setting}: {checks['pocl']}")
        else:
            pocl[setting] = times["pocl"][1] * time_of["native"]
    setting = min(pocl, key=pocl.get, default="")
    if pocl:
        time_of["pocl"] = pocl[setting]
    for message in wrong:
        print(f"{kernel}: {message}", file=sys.stderr)
    if "metal" not in time_of or "native" not in time_of:
        return None
    fastest = min(time_of, key=time_of.get)
    ours = time_of["metal"]
    return dict(zip(COLUMNS, [
        kernel, ours, time_of.get("pocl"), setting, time_of.get("lavapipe"), time_of[fastest],
        fastest, ours / time_of[fastest],
        *(time_of[peer] / ours if peer in time_of else None for peer in ("pocl", "lavapipe"))]))


def text(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def show(cells):
    widths = (16, 8, 8, 14, 11, 8, 9, 10, 9, 13)
    print(" ".join(text(cell).ljust(width) if i in (0, 3, 6) else text(cell).rjust(width)
                   for i, (cell, width) in enumerate(zip(cells, widths))), flush=True)


def summarise(table, empty):
    """The suite's figures, as lines of text."""
    lines = []
    ratios = [row["pocl/ours"] for row in table if row["pocl/ours"]]
    if ratios:
        lines.append(f"geomean vs best pocl  {geomean(ratios):.2f}x faster")
    lines.append(f"geomean vs limit      {geomean(row['ours/limit'] for row in table):.2f}x its time")
    for mode, name in (("batched1000", "batched"), ("each", "waited")):
        values = [f"{backend} {empty[mode, backend]:.2f}" for backend in BACKENDS
                  if (mode, backend) in empty]
        lines.append(f"empty dispatch {name:7s}  {', '.join(values)} us")
    slower = [f"{row['kernel']} {best:.2f}" for row in table
              if (best := min(filter(None, (row["pocl/ours"], row["lavapipe/ours"])),
                              default=1)) < 0.95]
    lines.append("below 0.95 of the better peer: " + (", ".join(slower) or "none"))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--quick", action="store_true", help="native and metal only")
    options = parser.parse_args()
    program = options.build / "bin" / "kernel_bench"

    begin = time.monotonic()
    rows, table = [], []
    show(COLUMNS)
    for kernel in options.kernels.split(","):
        row = measure(program, kernel, options, rows)
        if row:
            table.append(row)
            show(row.values())
    found = run(program, ["--empty", "--backends", "metal" if options.quick else
                          ",".join(BACKENDS)], {}, 600) or []
    rows += found
    lines = summarise(table, {(row[2], row[3]): float(row[5]) for row in found})
    print("\n".join(lines))

    out = options.build / "bench"
    out.mkdir(exist_ok=True)
    with open(out / "kernels.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    with open(out / "table.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(row.values() for row in table)
        writer.writerows([line] for line in lines)
    draw(table, lines, out / "kernels.png")
    print(f"{(time.monotonic() - begin) / 60:.0f} min; {out}/table.csv, kernels.csv, kernels.png")
    if len(table) < len(options.kernels.split(",")):
        sys.exit("some kernels gave no right result")


def draw(table, lines, path):
    """The table as a picture: bars over the limit, and every figure beside them."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: matplotlib is not installed (scripts/setup --bench)", file=sys.stderr)
        return
    count = len(table)
    figure, (axis, cells) = plt.subplots(1, 2, figsize=(16, 0.42 * count + 2.2), width_ratios=(2, 3),
                                         sharey=True)
    series = [(name, column) for name, column in
              (("Bessemer", "ours ms"), ("PoCL, best setting", "pocl ms"),
               ("lavapipe", "lavapipe ms")) if any(row[column] for row in table)]
    height = 0.8 / len(series)
    for offset, (name, column) in enumerate(series):
        axis.barh([i + height * (offset - (len(series) - 1) / 2) for i in range(count)],
                  [(row[column] or math.nan) / row["limit ms"] for row in table],
                  height=0.92 * height, label=name)
    axis.set_yticks(range(count), [row["kernel"] for row in table])
    axis.set_ylim(count - 0.5, -1.6)
    axis.set_xscale("log")
    axis.set_xlim(left=0.9)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("CPU time over the machine's limit (1 = the limit)")
    axis.legend(loc="upper left", ncols=len(series), frameon=False)
    cells.axis("off")
    columns = COLUMNS[1:]
    places = [0.08, 0.18, 0.20, 0.45, 0.54, 0.56, 0.74, 0.86, 1.0]
    for column, place in zip(columns, places):
        side = "left" if column in ("pocl setting", "limit of") else "right"
        cells.text(place, -1.05, column, transform=cells.get_yaxis_transform(), ha=side, va="center",
                   fontweight="bold", fontsize=9)
        for i, row in enumerate(table):
            cells.text(place, i, text(row[column]), transform=cells.get_yaxis_transform(), ha=side,
                       va="center", fontsize=9)
    figure.text(0.44, 0.01, "\n".join(lines), va="bottom", fontsize=9, family="monospace")
    figure.tight_layout(rect=(0, 0.16 if count < 8 else 0.07, 1, 1))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
