"""What one ELF file says about itself: needed libraries, its own name, search paths, symbol versions.

Only the program headers and the dynamic section are read, as the loader does, so that stripped files
and files without section headers are understood too.
"""

import mmap
import re
import struct
from dataclasses import dataclass, field

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29
DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
ET_EXEC, ET_DYN = 2, 3
SHT_DYNSYM = 11

# Symbol versions of glibc that name a feature of the loader instead of a release.
GLIBC_FEATURES = {"GLIBC_ABI_DT_RELR": "2.36"}


class BadElf(Exception):
    """The file starts as ELF does and then contradicts itself."""


@dataclass
class Elf:
    soname: str | None = None
    needed: list[str] = field(default_factory=list)
    rpath: list[str] = field(default_factory=list)    # DT_RPATH, as written
    runpath: list[str] = field(default_factory=list)  # DT_RUNPATH, as written
    interpreter: str | None = None
    glibc: str | None = None                          # the newest GLIBC_x.y it asks for


def read(path) -> Elf | None:
    """The facts of a dynamic ELF program or library; None for every other file (objects and static ones too)."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF" or len(head) < 52:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).read()
            except (struct.error, IndexError, UnicodeDecodeError) as error:
                raise BadElf(f"{path}: damaged ELF file: {error}") from error


class _Reader:
    def __init__(self, data):
        self.data = data
        if data[4] not in (1, 2) or data[5] not in (1, 2):
            raise IndexError("unknown class or byte order")
        self.wide = data[4] == 2
        self.order = "<" if data[5] == 1 else ">"
        self.loads = []  # (address, size in file, offset)

    def unpack(self, layout, offset):
        return struct.unpack_from(self.order + layout, self.data, offset)

    def read(self) -> Elf | None:
        kind = self.unpack("H", 16)[0]
        if kind not in (ET_EXEC, ET_DYN):
            return None
        dynamic = interpreter = None
        for type_, offset, address, size in self.program_headers():
            if type_ == PT_LOAD:
                self.loads.append((address, size, offset))
            elif type_ == PT_DYNAMIC:
                dynamic = (offset, size)
            elif type_ == PT_INTERP:
                interpreter = self.data[offset:offset + size].split(b"\0")[0].decode()
        if dynamic is None:
            return None
        elf = Elf(interpreter=interpreter)
        self.read_dynamic(elf, *dynamic)
        return elf

    def program_headers(self):
        if self.wide:
            start, (size, count) = self.unpack("Q", 32)[0], self.unpack("HH", 54)
        else:
            start, (size, count) = self.unpack("I", 28)[0], self.unpack("HH", 42)
        for index in range(count):
            at = start + index * size
            if self.wide:
                type_, _, offset, address, _, in_file = self.unpack("IIQQQQ", at)
            else:
                type_, offset, address, _, in_file = self.unpack("IIIII", at)
            yield type_, offset, address, in_file

    def read_dynamic(self, elf, offset, size):
        width, layout = (16, "qQ") if self.wide else (8, "iI")
        entries = []
        for at in range(offset, offset + size, width):
            tag, value = self.unpack(layout, at)
            if tag == 0:
                break
            entries.append((tag, value))
        single = dict(entries)
        if DT_STRTAB not in single:
            return
        self.strings = self.file_offset(single[DT_STRTAB])
        elf.needed = [self.string(value) for tag, value in entries if tag == DT_NEEDED]
        if DT_SONAME in single:
            elf.soname = self.string(single[DT_SONAME])
        if DT_RPATH in single:
            elf.rpath = self.string(single[DT_RPATH]).split(":")
        if DT_RUNPATH in single:
            elf.runpath = self.string(single[DT_RUNPATH]).split(":")
        if DT_VERNEED in single:
            elf.glibc = self.newest_glibc(self.file_offset(single[DT_VERNEED]), single.get(DT_VERNEEDNUM, 0))

    def newest_glibc(self, at, files):
        found = []
        for _ in range(files):
            _, count, _, first, following = self.unpack("HHIII", at)
            entry = at + first
            for _ in range(count):
                _, _, _, name, step = self.unpack("IHHII", entry)
                text = self.string(name)
                if match := re.fullmatch(r"GLIBC_([0-9]+(?:\.[0-9]+)+)", text):
                    found.append(match[1])
                elif text in GLIBC_FEATURES:
                    found.append(GLIBC_FEATURES[text])
                entry += step
            at += following
        return max(found, key=release, default=None)

    def file_offset(self, address):
        for start, size, offset in self.loads:
            if start <= address < start + size:
                return address - start + offset
        raise IndexError(f"address {address:#x} is outside all segments")

    def string(self, index):
        start = self.strings + index
        end = self.data.find(b"\0", start)
        if end < 0:
            raise IndexError("unterminated string")
        return self.data[start:end].decode()


def symbols(path) -> tuple[set[str], set[str]]:
    """The dynamic symbols that a file asks others for, and those that it defines, without their versions."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = _Reader(data)
        if not reader.wide:
            raise BadElf(f"{path}: only 64-bit files are supported")
        start, (size, count) = reader.unpack("Q", 40)[0], reader.unpack("HH", 58)
        sections = [reader.unpack("IIQQQQIIQQ", start + index * size) for index in range(count)]
        wanted, defined = set(), set()
        for _, type_, _, _, offset, length, link, _, _, entry in sections:
            if type_ != SHT_DYNSYM:
                continue
            reader.strings = sections[link][4]
            for at in range(offset + entry, offset + length, entry):  # the first is empty
                name, _, _, section = reader.unpack("IBBH", at)
                (defined if section else wanted).add(reader.string(name))
        return wanted, defined


def release(text: str) -> tuple[int, ...]:
    """The order of glibc releases: 2.9 before 2.34."""
    return tuple(int(part) for part in text.split("."))
