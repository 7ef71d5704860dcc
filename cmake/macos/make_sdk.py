#!/usr/bin/env python3
"""Makes the folder that cmake/macos/toolchain.cmake builds against.

    make_sdk.py ZIG METAL_CPP FOLDER

bin/         zig under the names of the tools that CMake and ccache know
include/     header-only libraries of this machine, one by one, so that no header of Linux is among
             them; declarations in place of the few Apple headers that zig does not carry
frameworks/  Metal and Foundation as .tbd files: names and no code, enough to link against
lib/         the same for the libraries that a Mac has from Apple or from Homebrew

Names come from metal-cpp's headers (Metal, Foundation) or are listed here; a name that is in no list
makes the link fail.
"""

import os
import re
import shutil
import subprocess
import sys

TARGET = "aarch64-macos.14.0"

# What of Debian's headers a Mac has from Homebrew, all without code of their own to link...
HEADERS = {name: name for name in ("flatbuffers", "CLI", "nlohmann", "benchmark")} | {"libpng16": ""}
PACKAGES = ["CLI11", "nlohmann_json"]

# ...but these two: libpng's names come from Debian's library.
BENCHMARK = """
    __ZN9benchmark10InitializeEPiPPcPFvvE
    __ZN9benchmark16PrintDefaultHelpEv
    __ZN9benchmark18SetDefaultTimeUnitENS_8TimeUnitE
    __ZN9benchmark22RunSpecifiedBenchmarksEv
    __ZN9benchmark5State13SkipWithErrorEPKc
    __ZN9benchmark5State16StartKeepRunningEv
    __ZN9benchmark5State17FinishKeepRunningEv
    __ZN9benchmark8ShutdownEv
    __ZN9benchmark8internal17InitializeStreamsEv
    __ZN9benchmark8internal25RegisterBenchmarkInternalEPNS0_9BenchmarkE
    __ZN9benchmark8internal9Benchmark11UseRealTimeEv
    __ZN9benchmark8internal9Benchmark21MeasureProcessCPUTimeEv
    __ZN9benchmark8internal9BenchmarkC2EPKc
    __ZN9benchmark8internal9BenchmarkD2Ev
    __ZTIN9benchmark8internal9BenchmarkE
"""

BENCHMARK_CONFIG = """\
add_library(benchmark::benchmark INTERFACE IMPORTED)
target_link_libraries(benchmark::benchmark INTERFACE benchmark)
set(benchmark_FOUND TRUE)
"""

OBJC = """
    _objc_alloc _objc_alloc_init _objc_autorelease _objc_autoreleasePoolPop _objc_autoreleasePoolPush
    _objc_getClass _objc_getProtocol _objc_lookUpClass _objc_msgSend _objc_msgSendSuper _objc_release
    _objc_retain _object_getClass _class_getName _sel_registerName
"""

APPLE_HEADERS = {
    "CoreFoundation/CoreFoundation.h": """\
#pragma once
#include <dispatch/dispatch.h>
#include <stddef.h>
#include <stdint.h>
typedef double CFTimeInterval;
typedef const void* CFTypeRef;
""",
    "IOSurface/IOSurfaceRef.h": """\
#pragma once
typedef struct __IOSurface* IOSurfaceRef;
""",
}


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Unchanged files keep their time, so that nothing is built again for them.
    if not os.path.exists(path) or open(path).read() != text:
        with open(path, "w") as file:
            file.write(text)
    os.chmod(path, mode)


def tbd(install_name, symbols):
    names = ", ".join(sorted(set(symbols)))
    return (
        "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n"
        f"install-name: '{install_name}'\ncurrent-version: 1\ncompatibility-version: 1\n"
        f"exports:\n  - targets: [ arm64-macos ]\n    symbols: [ {names} ]\n...\n"
    )


def metal_cpp_names(folder):
    """Constants and C functions that metal-cpp takes from a framework, by prefix (MTL, NS)."""
    names = []
    for framework in ("Metal", "Foundation"):
        for name in sorted(os.listdir(os.path.join(folder, framework))):
            text = open(os.path.join(folder, framework, name)).read()
            text = re.sub(r"^#define.*", "", text, flags=re.MULTILINE)
            for prefix, symbol in re.findall(
                r"_(MTL|NS)_PRIVATE_DEF_(?:STR|CONST|WEAK_CONST)\([^,()]+,\s*(\w+)\)", text
            ):
                names.append(prefix + symbol)
            names += re.findall(r'extern "C"[^;(]*?\b((?:MTL|NS)\w+)\(', text)
    return ["_" + name for name in names]


def main():
    zig, metal_cpp, sdk = map(os.path.abspath, sys.argv[1:4])

    for name, command in {
        "clang": f"cc -target {TARGET}",
        "clang++": f"c++ -target {TARGET}",
        "ar": "ar",
        "ranlib": "ranlib",
    }.items():
        write(f"{sdk}/bin/{name}", f'#!/bin/sh\nexec "{zig}" {command} "$@"\n', 0o755)

    for name, folder in HEADERS.items():
        source = f"/usr/include/{name}"
        if not os.path.isdir(source):
            sys.exit(f"{source} is missing: run scripts/setup")
        shutil.copytree(source, f"{sdk}/include/{folder}", dirs_exist_ok=True)
    for name in PACKAGES:
        shutil.copytree(f"/usr/share/cmake/{name}", f"{sdk}/share/cmake/{name}", dirs_exist_ok=True)
    for path, text in APPLE_HEADERS.items():
        write(f"{sdk}/include/{path}", text)

    names = metal_cpp_names(metal_cpp)
    for framework, prefix in (("Metal", "_MTL"), ("Foundation", "_NS")):
        write(
            f"{sdk}/frameworks/{framework}.framework/{framework}.tbd",
            tbd(
                f"/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}",
                [name for name in names if name.startswith(prefix)],
            ),
        )
    write(f"{sdk}/lib/libobjc.tbd", tbd("/usr/lib/libobjc.A.dylib", OBJC.split()))
    write(
        f"{sdk}/lib/libbenchmark.tbd",
        tbd("/opt/homebrew/opt/google-benchmark/lib/libbenchmark.1.dylib", BENCHMARK.split()),
    )
    write(f"{sdk}/share/cmake/benchmark/benchmarkConfig.cmake", BENCHMARK_CONFIG)
    write(f"{sdk}/lib/libz.tbd", tbd("/usr/lib/libz.1.dylib", ["_zlibVersion"]))
    darwin = os.path.join(os.path.dirname(zig), "lib/libc/include/any-darwin-any")
    for header in ("zlib.h", "zconf.h"):
        shutil.copy(f"{darwin}/{header}", f"{sdk}/include/{header}")
    library = subprocess.run(
        ["gcc", "-print-file-name=libpng16.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    write(
        f"{sdk}/lib/libpng16.tbd",
        tbd(
            "/opt/homebrew/opt/libpng/lib/libpng16.16.dylib",
            ["_" + name for name in re.findall(r" T (png_\w+)", symbols)],
        ),
    )


main()
