"""tensorflow.python.lib.io.file_io: whole files."""

import zlib

import pytest
from stillflow.python.lib.io import file_io

import stillflow as tf


def test_files_are_written_and_read(tmp_path):
    path = str(tmp_path / "file")
    file_io.write_string_to_file(path, "grün")
    assert file_io.read_file_to_string(path) == "grün"
    assert file_io.read_file_to_string(path, binary_mode=True) == "grün".encode()
    with file_io.FileIO(path, "a") as file:
        file.write("!")
    assert file_io.FileIO(path, mode="r").read() == "grün!"
    assert file_io.file_exists(path)


def test_atomic_writes_leave_no_other_file(tmp_path):
    path = str(tmp_path / "file")
    file_io.atomic_write_string_to_file(path, "a")
    file_io.atomic_write_string_to_file(path, "b")
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "c", overwrite=False)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["b"]


def test_files_are_compared_by_what_is_in_them(tmp_path):
    names = [str(tmp_path / name) for name in "abc"]
    for name, content in zip(names, ["same", "same", "some"], strict=True):
        file_io.write_string_to_file(name, content)
    assert file_io.filecmp(names[0], names[1])
    assert not file_io.filecmp(names[0], names[2])
    assert file_io.file_crc32(names[0]) == file_io.file_crc32(names[0], block_size=3) == hex(zlib.crc32(b"same"))
    with pytest.raises(tf.errors.NotFoundError):
        file_io.filecmp(names[0], str(tmp_path / "none"))
