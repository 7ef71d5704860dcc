"""gdb stops in a kernel by its name and knows the line of MSL and what it says.

    gdb_test.py PROGRAM_THAT_RUNS_KERNEL_SAXPY      exit code 77: there is no gdb, or it may not trace
"""

import re
import shutil
import subprocess
import sys

LINE = "y[index] = a * x[index] + y[index];"


def main():
    gdb = shutil.which("gdb")
    if not gdb:
        print("gdb is not installed")
        return 77
    commands = ["set breakpoint pending on", "set debuginfod enabled off", "set pagination off",
                "break saxpy", "run", "info symbol $pc", "info source", "backtrace 1",
                "list 1,40", "info line 7", "tbreak 7", "continue", "frame"]
    arguments = [gdb, "-nx", "-batch"]
    for command in commands:
        arguments += ["-ex", f"echo \\n>> {command}\\n", "-ex", command]
    done = subprocess.run([*arguments, sys.argv[1]], capture_output=True, text=True, timeout=280)
    output = done.stdout + done.stderr
    if "ptrace: Operation not permitted" in output or "Could not trace" in output:
        print("gdb may not trace here")
        return 77
    answers = {}
    for part in output.split("\n>> ")[1:]:
        command, _, answer = part.partition("\n")
        answers[command] = answer
    wanted = [
        ("run", r"Breakpoint 1.* saxpy"),
        ("info symbol $pc", r"^saxpy"),
        ("info source", r"Current source file is .*/source-[0-9a-f]+"),
        ("backtrace 1", r"^#0 .*\bsaxpy\b.* at .*/source-[0-9a-f]+:\d+"),
        ("list 1,40", r"^5\s+kernel void saxpy\(device const float \*x"),
        ("list 1,40", r"^7\s+" + re.escape(LINE)),
        ("info line 7", r"^Line 7 of .* starts at address 0x[0-9a-f]+ <saxpy"),
        ("frame", r"^7\s+" + re.escape(LINE)),
    ]
    failures = [f"'{command}' does not answer {pattern}" for command, pattern in wanted
                if not re.search(pattern, answers.get(command, ""), re.MULTILINE)]
    if failures:
        print(output)
        print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
