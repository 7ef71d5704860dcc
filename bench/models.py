#!/usr/bin/env python3
"""Compares the speed of compiled programs: Bessemer on Metal against IREE's own CPU back end.

    bench/models.py BUILD_DIR [CORPUS ...] [--only a,b] [--kinds model,onnx] [--rounds N] [--time S]

For each case of a corpus (a folder with case.json, the source, the module for Metal and inputs) the
source is compiled for llvm-cpu with this machine's features; then each round runs IREE on
local-sync, IREE on local-task and Bessemer one after another, each warm, so that a ratio compares
neighbours in time. Of the rounds the median counts, of IREE's two devices the faster. Speed is
IREE's time over ours: 1 is as fast, 2 is twice as fast. Functions that keep state are left out:
calling one again and again is not what it is for.

Prints each program, each kind and the geometric means; writes models.csv into BUILD_DIR/bench.
"""

import argparse
import collections
import csv
import hashlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv" / "bin"
DEVICES = ("local-sync", "local-task")


def geomean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def say(error):
    lines = error.strip().splitlines()
    return lines[-1][:200] if lines else "no message"


def compiled_for_cpu(folder, case, out):
    """The program for llvm-cpu, compiled once for each source and set of flags."""
    source = folder / case["model"]
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", *case.get("extra_compile_flags", [])]
    key = hashlib.sha256(source.read_bytes() + " ".join(flags).encode()).hexdigest()[:16]
    module = out / f"{case['name']}-{key}.vmfb"
    if not module.exists():
        part = module.with_suffix(".part")
        done = subprocess.run([TOOLS / "iree-compile", source, *flags, "-o", part],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"iree-compile: {say(done.stderr)}")
        part.rename(module)
    return module


def inputs_of(folder, case):
    flags = []
    for item in case["inputs"]:
        path = folder / item["file"]
        if case.get("scalar_abi"):
            value = np.load(path).item()
            flags.append(f"--input={int(value) if isinstance(value, bool) else value}")
        else:
            flags.append(f"--input=@{path}")
    return flags


def measure(command, seconds):
    """Wall and CPU milliseconds of a call."""
    done = subprocess.run([*command, f"--benchmark_min_time={seconds}", "--benchmark_format=json"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: {say(done.stderr)}")
    # Either may print a notice before its report.
    report = json.loads(done.stdout[done.stdout.index("{"):])["benchmarks"][0]
    if report.get("error_occurred"):
        raise RuntimeError(report["error_message"])
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[report["time_unit"]]
    return report["real_time"] * scale, report["cpu_time"] * scale


def compare(folder, case, out, tool, rounds, seconds):
    """{backend: (wall ms, CPU ms)}, medians."""
    program = compiled_for_cpu(folder, case, out)
    arguments = [f"--function={case.get('entry', 'main')}", *inputs_of(folder, case)]
    for scope, file in (case.get("parameters") or {}).items():
        arguments.append(f"--parameters={scope}={folder / file}")
    commands = {device: [TOOLS / "iree-benchmark-module", f"--module={program}",
                         f"--device={device}", *arguments] for device in DEVICES}
    commands["metal"] = [tool, "bench", f"--module={folder / case['module']}", *arguments]
    times = collections.defaultdict(list)
    for _ in range(rounds):
        for backend, command in commands.items():
            times[backend].append(measure(command, seconds))
    return {backend: tuple(map(statistics.median, zip(*pairs))) for backend, pairs in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("corpus", type=pathlib.Path, nargs="*",
                        default=[ROOT / "tests" / "corpus" / "cases",
                                 ROOT.parent / "shared" / "corpus"],
                        help="folders of cases; one name counts once")
    parser.add_argument("--only", default="", help="names of cases")
    parser.add_argument("--kinds", default="", help="beginnings of kinds: model,onnx,tiny.conv")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--time", type=float, default=0.1, help="seconds of each measurement")
    options = parser.parse_args()
    tool = options.build / "bin" / "bessemer"
    for needed, how in ((tool, "build it"), (TOOLS / "iree-compile", "run scripts/setup"),
                        (TOOLS / "iree-benchmark-module", "run scripts/setup --bench")):
        if not needed.exists():
            sys.exit(f"bench/models.py: there is no {needed}: {how}")
    out = options.build / "bench"
    programs = out / "models"
    programs.mkdir(parents=True, exist_ok=True)

    rows, speeds, failed = [], collections.defaultdict(list), 0
    names, kinds = (tuple(filter(None, text.split(",")))
                    for text in (options.only, options.kinds))
    header = (f"{'program':38s} {'local-sync':>10s} {'local-task':>10s} {'metal':>10s} us"
              f"   {'speed':>6s} {'by CPU':>6s}")
    print(header)
    cases = {}
    for corpus in options.corpus:
        for description in corpus.glob("*/case.json"):
            case = json.loads(description.read_text())
            # Without its source a program cannot be compiled for the peer.
            if (description.parent / case.get("model", "")).is_file():
                cases.setdefault(description.parent.name, (description, case))
    for _, (description, case) in sorted(cases.items()):
        if names and case["name"] not in names or kinds and not case["kind"].startswith(kinds):
            continue
        if case.get("calls"):
            continue
        try:
            times = compare(description.parent, case, programs, tool, options.rounds, options.time)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{case['name']:38s} {error}", flush=True)
            failed += 1
            continue
        # The faster device by wall time is the peer in both columns: its CPU time is what its
        # speed costs.
        peer = min(DEVICES, key=lambda device: times[device][0])
        wall, cpu = (times[peer][i] / times["metal"][i] for i in (0, 1))
        speeds[case["kind"]].append((wall, cpu))
        columns = " ".join(f"{times[b][0] * 1e3:10.1f}" for b in (*DEVICES, "metal"))
        print(f"{case['name']:38s} {columns}      {wall:6.2f} {cpu:6.2f}", flush=True)
        rows.append([case["name"], case["kind"], peer,
                     *(f"{value:.6f}" for b in (*DEVICES, "metal") for value in times[b]),
                     f"{wall:.4f}", f"{cpu:.4f}"])
    if not rows:
        sys.exit("bench/models.py: no program was measured: name a corpus whose cases have their "
                 "source (case.json: \"model\")")

    def summary(name, pairs):
        pairs = list(pairs)
        walls, cpus = zip(*pairs)
        print(f"{name:30s} {len(pairs):4d}   speed {geomean(walls):5.2f}   by CPU time "
              f"{geomean(cpus):5.2f}   slowest {min(walls):5.2f}")

    print()
    for kind in sorted(speeds):
        summary(kind, speeds[kind])
    for family in sorted({kind.split(".")[0] for kind in speeds}):
        summary(f"{family}.*", (p for k, pairs in speeds.items() if k.split(".")[0] == family
                                for p in pairs))
    summary("geomean", (pair for pairs in speeds.values() for pair in pairs))
    with open(out / "models.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["program", "kind", "peer",
                         *(f"{b} {what} ms" for b in (*DEVICES, "metal") for what in ("wall", "cpu")),
                         "speed", "speed by cpu"])
        writer.writerows(rows)
    if failed:
        sys.exit(f"bench/models.py: {failed} programs could not be measured")


if __name__ == "__main__":
    main()
