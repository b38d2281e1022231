"""Whole files at once: what tensorflow.python.lib.io.file_io has besides tf.gfile."""

from __future__ import annotations

import zlib

from stillflow.files.gfile import GFile, Rename
from stillflow.names import public


@public("python.lib.io.file_io.read_file_to_string")
def read_file_to_string(filename, binary_mode=False):
    """What a file holds: a str, or bytes in binary mode."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


@public("python.lib.io.file_io.write_string_to_file")
def write_string_to_file(filename, file_content):
    """Writes a file."""
    with GFile(filename, "w") as file:
        file.write(file_content)


@public("python.lib.io.file_io.atomic_write_string_to_file")
def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes a file that is there whole or not at all. Raises AlreadyExistsError unless it may overwrite."""
    temporary = f"{filename}.tmp"
    write_string_to_file(temporary, contents)
    Rename(temporary, filename, overwrite)


@public("python.lib.io.file_io.filecmp")
def filecmp(filename_a, filename_b):
    """Whether two files hold the same."""
    return read_file_to_string(filename_a, True) == read_file_to_string(filename_b, True)


@public("python.lib.io.file_io.file_crc32")
def file_crc32(filename, block_size=1 << 24):
    """The CRC-32 of a file, as text: "0x" and eight hexadecimal digits."""
    crc = 0
    with GFile(filename, "rb") as file:
        while chunk := file.read(block_size):
            crc = zlib.crc32(chunk, crc)
    return f"0x{crc:08x}"
