#!/usr/bin/env python3
"""gpu_library.py FILE SASS PTX: a shared library whose .nv_fatbin section holds machine code and PTX
for these compute capabilities ("80,90"; "-" for none), as nvcc lays it out."""
import struct
import sys


def entry(kind, capability):
    head = struct.pack("<HHIQQII", kind, 0x101, 64, 16, 0, 0, capability)
    return head.ljust(64, b"\0") + b"x" * 16


def numbers(text):
    return [] if text == "-" else [int(one) for one in text.split(",")]


path, sass, ptx = sys.argv[1:]
entries = b"".join([entry(2, one) for one in numbers(sass)] + [entry(1, one) for one in numbers(ptx)])
code = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries
names = b"\0.nv_fatbin\0.shstrtab\0"
ident = b"\x7fELF\2\1\1".ljust(16, b"\0")
head = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(code) + len(names), 0, 64, 0, 0,
                           64, 3, 2)
section = lambda name, kind, at, size: struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, 0, 0, 1, 0)
with open(path, "wb") as out:
    out.write(head + code + names + section(0, 0, 0, 0) + section(1, 1, 64, len(code)) +
              section(12, 3, 64 + len(code), len(names)))
