"""Shared libraries: what can be loaded is, and what cannot says what it misses."""

import shutil
import subprocess

import pytest

import stillflow as tf

COMPILER = shutil.which("cc") or shutil.which("gcc")


def library(folder, name, source, *options):
    (folder / f"{name}.c").write_text(source)
    path = folder / f"{name}.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", path, folder / f"{name}.c", *options], check=True)
    return str(path)


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_libraries_are_loaded(tmp_path):
    path = library(tmp_path, "plain", "int seven(void) { return 7; }")
    module = tf.load_op_library(path)
    assert module.LIB_HANDLE.seven() == 7
    assert list(module.OP_LIST.op) == []
    assert tf.load_op_library(path) is module
    assert tf.load_library(path) is None
    assert tf.load_library(str(tmp_path)) is None


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_a_library_that_needs_the_runtime_of_tensorflow(tmp_path):
    source = "void register_an_op(void); __attribute__((constructor)) void start(void) { register_an_op(); }"
    path = library(tmp_path, "op", source, "-Wl,-z,now")
    for load in (tf.load_op_library, tf.load_library):
        with pytest.raises(tf.errors.NotFoundError, match="undefined symbol: register_an_op"):
            load(path)


def test_what_is_no_library(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("no library")
    with pytest.raises(tf.errors.NotFoundError, match="file too short"):
        tf.load_op_library(str(path))
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.load_op_library(str(tmp_path / "none.so"))
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(str(tmp_path / "none.so"))
    with pytest.raises(TypeError):
        tf.load_op_library(5)
