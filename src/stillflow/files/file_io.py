"""tensorflow.python.lib.io.file_io: whole files at once, as programs for TensorFlow 1 read and write them."""

from __future__ import annotations

import binascii
import uuid

from stillflow import errors
from stillflow.files import gfile
from stillflow.names import public


@public("python.lib.io.file_io.FileIO")
class FileIO(gfile.GFile):
    """A tf.gfile.GFile whose mode has to be said."""

    def __init__(self, name, mode):
        super().__init__(name, mode)


@public("python.lib.io.file_io.read_file_to_string")
def read_file_to_string(filename, binary_mode=False):
    """What a file holds, as text or as bytes. Raises tf.errors.NotFoundError."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


@public("python.lib.io.file_io.write_string_to_file")
def write_string_to_file(filename, file_content):
    """Makes a file, or replaces what is in it."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


@public("python.lib.io.file_io.atomic_write_string_to_file")
def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Makes a file that is there with all its contents or not at all.

    Raises tf.errors.AlreadyExistsError if there is one already, unless `overwrite`.
    """
    temporary = f"{filename}.tmp{uuid.uuid4().hex}"
    write_string_to_file(temporary, contents)
    try:
        gfile.Rename(temporary, filename, overwrite)
    except errors.OpError:
        gfile.Remove(temporary)
        raise


@public("python.lib.io.file_io.filecmp")
def filecmp(filename_a, filename_b):
    """Whether two files have the same contents. Raises tf.errors.NotFoundError."""
    if gfile.Stat(filename_a).length != gfile.Stat(filename_b).length:
        return False
    with FileIO(filename_a, "rb") as a, FileIO(filename_b, "rb") as b:
        while block := a.read(gfile.BLOCK_BYTES):
            if block != b.read(gfile.BLOCK_BYTES):
                return False
    return True


@public("python.lib.io.file_io.file_crc32")
def file_crc32(filename, block_size=gfile.BLOCK_BYTES):
    """The CRC-32 of a file in hexadecimal, "0x..."; it is read in blocks of that size, at once for -1."""
    checksum = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            checksum = binascii.crc32(block, checksum)
    return hex(checksum)
