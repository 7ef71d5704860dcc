#!/usr/bin/env python3
"""Writes Metal/Metal.h, what Objective-C programs import, from Apple's metal-cpp headers.

metal-cpp holds the same facts: enumerations, structs, classes, and for each method its selector and
types. usage: make_metal_header.py METAL_CPP_DIRECTORY OUTPUT
"""
import pathlib
import re
import sys

ENUM = re.compile(r"_MTL_(ENUM|OPTIONS)\(([\w:]+), (\w+)\)\s*\{(.*?)\};", re.S)
STRUCT = re.compile(r"^struct (\w+)\n\{(.*?)^\}( _MTL_PACKED)?;", re.S | re.M)
CLASS = re.compile(r"^class (\w+) : public NS::(?:Referencing|Copying|SecureCoding)<(\w+)(?:, ([\w:]+))?>", re.M)
METHOD = re.compile(
    r"^_MTL_INLINE ([^\n]*?)MTL::(\w+)::(\w+)\((.*?)\)( const)?\n\{(.*?)^\}", re.S | re.M)
SEND = re.compile(r"sendMessage(?:Safe)?<.*?>\((this|_MTL_PRIVATE_CLS\(\w+\)), _MTL_PRIVATE_SEL\((\w+)\)")
BLOCK_TYPE = re.compile(r"^using (\w+) = (void \(\^\)\(.*?\));", re.M)
CONSTANT = re.compile(r"^_MTL_CONST\([\w:]+, (\w+)\);", re.M)

FOUNDATION = {"Object*": "id", "UInteger": "NSUInteger", "Integer": "NSInteger",
              "TimeInterval": "NSTimeInterval", "ErrorDomain": "NSString *"}


class Header:
    def __init__(self, directory):
        files = sorted((directory / "Metal").glob("MTL*.hpp"))
        self.text = "\n".join(f.read_text() for f in files if f.name != "MTLHeaderBridge.hpp")
        # A selector's C++ name has its colons replaced; the table gives it as it is.
        bridge = (directory / "Metal" / "MTLHeaderBridge.hpp").read_text()
        self.selectors = dict(re.findall(r'_MTL_PRIVATE_DEF_SEL\((\w+),\s*"([^"]+)"\)', bridge))
        classes = set(re.findall(r"_MTL_PRIVATE_DEF_CLS\(MTL(\w+)\)", bridge))
        self.enums = {name: (kind, base, body) for kind, base, name, body in ENUM.findall(self.text)}
        self.bases = {name: base for name, _, base in CLASS.findall(self.text)}
        # What nobody can make by alloc is a protocol.
        self.protocols = set(self.bases) - classes
        self.blocks = dict(BLOCK_TYPE.findall(self.text))
        self.structs = {}
        for name, body, packed in STRUCT.findall(self.text):
            fields = re.findall(r"^    ((?:const )?[\w:]+(?: \w+)?) +(\w+(?:\[\d+\])?(?:, \w+)*);", body, re.M)
            # Those with unions and operators are of graphics alone.
            if fields and "union" not in body and "operator" not in body:
                self.structs[name] = (fields, bool(packed))
        scalar = re.compile(r"(const )?(float|double|u?int\d+_t|std::u?int\d+_t|NS::\w+)$")
        while unknown := [n for n, (fields, _) in self.structs.items() for t, _ in fields
                          if not scalar.match(t) and t.replace("MTL::", "") not in self.structs
                          and t.replace("MTL::", "") not in self.enums]:
            for name in set(unknown):
                del self.structs[name]

    def type(self, text):
        """An Objective-C type for a C++ one."""
        text = text.replace("std::", "").strip()
        if match := re.fullmatch(r"(?:const )?(.*?) ?\(\^\w*\)\((.*)\)", text):
            arguments = [self.type(re.sub(r"(?<=[\w*]) p?\w+$", "", a)) if "*" in a or " " in a
                         else self.type(a) for a in self.split(match[2])]
            return f"{self.type(match[1])} (^)({', '.join(arguments) or 'void'})"
        if match := re.fullmatch(r"(?:const )?MTL::Autoreleased(\w+)\*", text):
            return f"MTL{match[1]} **"
        stars = len(text) - len(text.rstrip("*"))
        name = text.rstrip("*").strip()
        constant = name.startswith("const ")
        for word in ("const ", "class ", "MTL::", "Foundation::"):
            name = name.replace(word, "")
        if name.startswith("NS::"):
            name = name[4:]
            if name == "Object":
                return "id" + " *" * (stars - 1)
            if name in FOUNDATION:
                name = FOUNDATION[name]
            else:
                name = "NS" + name
        elif name in self.protocols:
            if stars:
                return f"id<MTL{name}>" + " *" * (stars - 1)
        elif name in self.bases:
            name = "MTL" + name
        elif name in self.enums or name in self.structs or name in self.blocks:
            known = name in self.structs and stars
            name = ("const " if constant and known else "") + "MTL" + name
        elif name in ("CommonCounter", "CommonCounterSet", "DeviceNotificationName"):
            name = "NSString *"
        elif name == "Timestamp":
            name = "MTLTimestamp"
        elif name == "bool":
            name = "BOOL"
        elif constant:
            name = "const " + name
        return name + (" " + "*" * stars if stars else "")

    @staticmethod
    def split(arguments):
        parts, depth, start = [], 0, 0
        for i, c in enumerate(arguments):
            depth += c in "(<"
            depth -= c in ")>"
            if c == "," and not depth:
                parts.append(arguments[start:i].strip())
                start = i + 1
        last = arguments[start:].strip()
        return parts + [last] if last else parts

    def argument(self, text):
        """(type, name) of a C++ parameter."""
        if match := re.fullmatch(r"(.*\(\^)(\w+)(\)\(.*\))", text, re.S):
            return self.type(match[1] + match[3]), match[2]
        match = re.fullmatch(r"(.*?)(\w+)(\[\])?", text, re.S)
        element, name, array = match[1].strip(), match[2], match[3]
        if array:
            element = re.sub(r" const$", "", element)
            kind = self.type(element)
            plain = not kind.startswith("id")
            return (f"const {kind} *" if plain and not kind.startswith("const") else
                    f"{kind} *" if plain else f"const {kind} __unsafe_unretained []"), name
        return self.type(element), name

    def methods(self, cls):
        seen = set()
        for result, owner, _, arguments, _, body in METHOD.findall(self.text):
            send = SEND.search(body)
            if owner != cls or not send or "std::function" in arguments:
                continue
            selector = self.selectors.get(send[2], send[2].replace("_", ":"))
            if selector in ("alloc", "init") or selector in seen or selector.count(":") != len(self.split(arguments)):
                continue
            seen.add(selector)
            static = "+" if send[1] != "this" else "-"
            kind = "instancetype" if selector.startswith("init") else self.type(result.replace("class ", ""))
            yield static, kind, selector, [self.argument(a) for a in self.split(arguments)]

    def known(self, *types):
        """Whether every type that a method names is declared here."""
        for kind in types:
            for name in re.findall(r"MTL(\w+)", kind):
                if name not in self.bases and name not in self.enums and name not in self.structs \
                        and name not in self.blocks and name != "Timestamp":
                    return False
            plain = re.sub(r"\b(MTL|NS)\w+|\b(id|const|void|BOOL|float|double|char|int|unsigned|long|instancetype|"
                           r"__unsafe_unretained|u?int\d+_t|kern_return_t|task_id_token_t|CFTimeInterval|"
                           r"IOSurfaceRef|dispatch_\w+)\b", "", kind)
            if re.search(r"\w|::", plain):
                return False
        return True


def write_enum(out, name, kind, base, body):
    words = {"NS::UInteger": "NSUInteger", "NS::Integer": "NSInteger", "NS::UIntegerMax": "NSUIntegerMax"}
    own = set(re.findall(r"^\s*(\w+) =", body, re.M))
    lines = []
    for line in body.strip().splitlines():
        line = line.strip()
        for a, b in words.items():
            line = line.replace(a, b)
        lines.append("  " + re.sub(r"\b\w+\b", lambda m: "MTL" + m[0] if m[0] in own else m[0], line))
    out.append(f"typedef NS_{kind}({words.get(base, base.replace('std::', ''))}, MTL{name}) {{")
    out.extend(lines + ["};", ""])


def main():
    header = Header(pathlib.Path(sys.argv[1]))
    out = ["/* Metal for Objective-C. Made from metal-cpp by make_metal_header.py. */", "#pragma once", "",
           "#import <Foundation/Foundation.h>", "#import <CoreGraphics/CoreGraphics.h>",
           "#import <IOSurface/IOSurfaceRef.h>", "", "typedef uint64_t MTLTimestamp;", ""]
    for name, (kind, base, body) in header.enums.items():
        write_enum(out, name, kind, base, body)
    pending = dict(header.structs)
    while pending:
        ready = [n for n, (f, _) in pending.items()
                 if not any(t.replace("MTL::", "") in pending and t.replace("MTL::", "") != n for t, _ in f)]
        if not ready:
            break
        for name in ready:
            fields, packed = pending.pop(name)
            out.append("typedef struct {")
            out.extend(f"  {header.type(t)} {f};" for t, f in fields)
            out.extend([f"}}{' __attribute__((packed))' if packed else ''} MTL{name};", ""])
    out += ["NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {",
            "  MTLOrigin origin = {x, y, z};", "  return origin;", "}",
            "NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {",
            "  MTLSize size = {width, height, depth};", "  return size;", "}",
            "NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width,",
            "                                    NSUInteger height, NSUInteger depth) {",
            "  MTLRegion region = {{x, y, z}, {width, height, depth}};", "  return region;", "}",
            "NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width, NSUInteger height) {",
            "  return MTLRegionMake3D(x, y, 0, width, height, 1);", "}",
            "NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {",
            "  return MTLRegionMake3D(x, 0, 0, width, 1, 1);", "}", ""]
    classes = list(header.bases)
    for name in classes:
        out.append(f"@protocol MTL{name};" if name in header.protocols else f"@class MTL{name};")
    out.append("")
    for name, block in header.blocks.items():
        kind = header.type(block.replace("(^)", "(^x)"))
        out.append(f"typedef {kind.replace('(^)', f'(^MTL{name})', 1)};")
    out.append("")
    for name in CONSTANT.findall(header.text):
        out.append(f"FOUNDATION_EXPORT NSString *const MTL{name};")
    for name in ("LibraryErrorDomain", "CommandBufferErrorDomain", "CaptureErrorDomain"):
        out.append(f"FOUNDATION_EXPORT NSString *const MTL{name};")
    done = set()

    def write_class(name):
        base = (header.bases[name] or "").replace("MTL::", "")
        if base in header.bases and base not in done:
            write_class(base)
        done.add(name)
        protocol = name in header.protocols
        above = f"MTL{base}" if base in header.bases else "NSObject"
        out.append("")
        if not protocol and base in header.protocols:
            above = f"NSObject <MTL{base}>"
        out.append(f"@protocol MTL{name} <{above}>" if protocol else f"@interface MTL{name} : {above}")
        methods = list(header.methods(name))
        names = {m[2] for m in methods}
        for static, kind, selector, arguments in methods:
            if not header.known(kind, *(t for t, _ in arguments)):
                continue
            if match := re.fullmatch(r"is([A-Z])(\w*)", selector):
                setter = f"set{match[1]}{match[2]}:"
                access = "" if setter in names else "readonly, "
                plain = match[1].lower() + match[2]
                if plain not in names:
                    out.append(f"@property({access}getter={selector}) {kind} {plain};")
                    continue
            parts = selector.split(":")
            text = parts[0] if not arguments else " ".join(
                f"{p}:({t}){n}" for p, (t, n) in zip(parts, arguments))
            out.append(f"{static} ({kind}){text};")
        out.append("@end")

    for name in classes:
        if name not in done:
            write_class(name)
    out += ["", "FOUNDATION_EXPORT id<MTLDevice> MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;",
            "FOUNDATION_EXPORT NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;", ""]
    output = pathlib.Path(sys.argv[2])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(out))


if __name__ == "__main__":
    main()
