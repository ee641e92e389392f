"""Says hello from the environment it is in."""

import sys


def greeting() -> str:
    return f"hello from Python {sys.version_info.major}.{sys.version_info.minor} in {sys.prefix}"


def main() -> int:
    print(greeting())
    return 0
