"""Compresses a wheel again as far as deflate goes, which builders do in haste, and holds it to the size that is
promised. `python tools/compress_wheel.py FILE...`
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

MOST_BYTES = 10_000_000


def compress(path: Path):
    """Rewrites the wheel with the same members in the same order."""
    new = path.with_suffix(".new")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for info in old.infolist():
            packed.writestr(info, old.read(info), zipfile.ZIP_DEFLATED, compresslevel=9)
    new.replace(path)


def main(arguments):
    for argument in arguments:
        path = Path(argument)
        compress(path)
        size = path.stat().st_size
        print(f"{path}: {size:,} bytes")
        if size > MOST_BYTES:
            sys.exit(f"The wheel is to have at most {MOST_BYTES:,} bytes.")


if __name__ == "__main__":
    main(sys.argv[1:])
