"""tf.gfile: what it does and how it fails, as recorded from TensorFlow 1.15.5."""

import sys

import pytest

import stillflow as tf

gfile = tf.gfile


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "f.txt").write_bytes("l1\nl2\r\né".encode())
    (tmp_path / "a" / "m.txt").write_bytes(b"m")
    return str(tmp_path)


def test_reading(tree):
    path = f"{tree}/a/f.txt"
    assert gfile.GFile(path).read() == "l1\nl2\r\né"
    assert gfile.GFile(path, "rb").read(4) == b"l1\nl"
    assert list(gfile.GFile(path)) == ["l1\n", "l2\n", "é"]
    assert gfile.GFile(path, "rb").readlines() == [b"l1\n", b"l2\n", b"\xc3\xa9"]
    with gfile.Open(path.encode()) as f:
        assert (f.size(), f.tell(), f.mode, f.seekable()) == (9, 0, "r", True)
        f.seek(3)
        assert f.read(2) == "l2"
        f.seek(-2, 2)
        assert f.read() == "é"
        f.seek(0)
        assert f.readline() == "l1\n"
        f.seek(1, 1)
        assert f.tell() == 4
        with pytest.raises(tf.errors.OutOfRangeError, match="reached end of file"):
            f.seek(100)
        with pytest.raises(TypeError, match="offset argument required"):
            f.seek()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid whence argument: 3"):
            f.seek(0, 3)
        with pytest.raises(tf.errors.InvalidArgumentError):
            f.seek(-5)


def test_writing(tree):
    path = f"{tree}/new.txt"
    with gfile.GFile(path, "w") as f:
        f.write("abc")
        f.write(b"d")
        assert f.tell() == 4
    with gfile.GFile(path, "a") as f:
        f.write("é")
    assert gfile.GFile(path, "rb").read() == b"abcd\xc3\xa9"
    f = gfile.GFile(path, "w+")
    f.write("xyz")
    f.flush()
    assert f.read() == "xyz"
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        f.write(3)
    f.close()


def test_what_a_mode_forbids(tree):
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not 'r' or 'w'"):
        gfile.GFile(f"{tree}/x", "z")
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
        gfile.GFile(f"{tree}/a/f.txt").write("x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
        gfile.GFile(f"{tree}/a/f.txt", "w").read()
    assert gfile.Stat(f"{tree}/a/f.txt").length == 9  # opened is not written


def test_directories(tree):
    gfile.MkDir(f"{tree}/a")
    gfile.MkDir(f"{tree}/d")
    gfile.MakeDirs(f"{tree}/p/q/r")
    gfile.MakeDirs(f"{tree}/p/q/r")
    assert gfile.IsDirectory(f"{tree}/p/q/r")
    assert not gfile.IsDirectory(f"{tree}/a/f.txt")
    assert not gfile.IsDirectory(f"{tree}/none")
    assert sorted(gfile.ListDirectory(f"{tree}/a")) == ["b", "f.txt", "m.txt"]
    top, inner, deepest = (
        (f"{tree}/a", ["b"], ["f.txt", "m.txt"]),
        (f"{tree}/a/b", ["c"], []),
        (f"{tree}/a/b/c", [], []),
    )
    assert list(gfile.Walk(f"{tree}/a")) == [top, inner, deepest]
    assert list(gfile.Walk(f"{tree}/a", in_order=False)) == [deepest, inner, top]
    assert list(gfile.Walk(f"{tree}/none")) == []
    gfile.DeleteRecursively(f"{tree}/a")
    assert not gfile.Exists(f"{tree}/a")


def test_files(tree):
    assert gfile.Glob(f"{tree}/a/*.txt") == [f"{tree}/a/f.txt", f"{tree}/a/m.txt"]
    assert gfile.Glob([f"{tree}/a/m*", f"{tree}/a/f*"]) == [f"{tree}/a/m.txt", f"{tree}/a/f.txt"]
    assert gfile.Glob(f"{tree}/a/z*") == []
    assert gfile.Glob(f"{tree}/*/b") == [f"{tree}/a/b"]
    assert gfile.Glob(f"{tree}/a/\\f.txt") == [f"{tree}/a/f.txt"]
    assert gfile.Glob(f"{tree}/a/f\\*") == []


def test_what_a_relative_pattern_finds_begins_with_a_dot(tree, monkeypatch):
    monkeypatch.chdir(f"{tree}/a")
    assert gfile.Glob("*.txt") == ["./f.txt", "./m.txt"]
    assert gfile.Glob("f.txt") == ["./f.txt"]
    assert gfile.Glob(["", ".", "..", "./", "*/"]) == []
    assert gfile.Glob("E:\\no\\f.txt") == []  # the folder is what stands before the first special character
    gfile.Copy(f"{tree}/a/f.txt", f"{tree}/k")
    gfile.Copy(f"{tree}/a/f.txt", f"{tree}/k", overwrite=True)
    assert gfile.GFile(f"{tree}/k", "rb").read() == gfile.GFile(f"{tree}/a/f.txt", "rb").read()
    gfile.Rename(f"{tree}/k", f"{tree}/n")
    gfile.Rename(f"{tree}/n", f"{tree}/a/m.txt", overwrite=True)
    assert not gfile.Exists(f"{tree}/n")
    assert gfile.Stat(f"{tree}/a/m.txt").length == 9
    gfile.Remove(f"{tree}/a/m.txt")
    assert not gfile.Exists(f"{tree}/a/m.txt")
    assert gfile.Exists(f"file://{tree}/a")
    found = gfile.Stat(f"{tree}/a")
    assert found.is_directory
    assert isinstance(found.mtime_nsec, int)


NO_SUCH = "; No such file or directory"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: gfile.GFile(f"{d}/x").read(), "NotFoundError", NO_SUCH),
        (lambda d: gfile.GFile(d).read(), "FailedPreconditionError", "; Is a directory"),
        (lambda d: gfile.GFile(f"{d}/no/x", "w").write("x"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.MkDir(f"{d}/q/r"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.ListDirectory(f"{d}/z"), "NotFoundError", "Could not find directory"),
        (lambda d: gfile.ListDirectory(f"{d}/a/f.txt"), "NotFoundError", "Could not find directory"),
        (lambda d: gfile.Copy(f"{d}/a/f.txt", f"{d}/a/m.txt"), "AlreadyExistsError", "file already exists"),
        (lambda d: gfile.Copy(f"{d}/no", f"{d}/no2"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.Rename(f"{d}/a/f.txt", f"{d}/a/m.txt"), "AlreadyExistsError", "file already exists"),
        (lambda d: gfile.Rename(f"{d}/no", f"{d}/no2"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.Remove(f"{d}/a/b"), "FailedPreconditionError", "Is a directory"),
        (lambda d: gfile.Remove(f"{d}/no"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.Glob(f"{d}/no/*"), "NotFoundError", f"/no{NO_SUCH}"),
        (lambda d: gfile.Glob(f"{d}/no/*/x"), "NotFoundError", f"/no{NO_SUCH}"),
        (lambda d: gfile.Glob(f"{d}/a/f.txt/x"), "FailedPreconditionError", "/f.txt; Not a directory"),
        (lambda d: gfile.Stat(f"{d}/no"), "NotFoundError", NO_SUCH),
        (lambda d: gfile.DeleteRecursively(f"{d}/no"), "NotFoundError", "not found"),
        (lambda d: gfile.DeleteRecursively(f"{d}/a/f.txt"), "FailedPreconditionError", "Not a directory"),
        (lambda d: gfile.GFile(f"{d}/\0").read(), "InvalidArgumentError", "null byte"),
    ],
)
def test_errors(tree, call, error, message):
    with pytest.raises(getattr(tf.errors, error), match=message):
        call(tree)


def test_paths_must_be_text():
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        gfile.Exists(3)


def test_a_scheme_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"scheme 'gs' not implemented .*pip install stillflow\[remote\]"
    ):
        gfile.Exists("gs://bucket/x")


def test_remote_files():
    pytest.importorskip("fsspec")
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'foo' not implemented"):
        gfile.Exists("foo://bar/x")
    with gfile.GFile("memory://folder/x.txt", "w") as f:
        f.write("hello\n")
    assert gfile.GFile("memory://folder/x.txt").readlines() == ["hello\n"]
    assert gfile.ListDirectory("memory://folder") == ["x.txt"]
    assert [path.endswith("/folder/x.txt") for path in gfile.Glob("memory://folder/*")] == [True]
    assert gfile.Stat("memory://folder/x.txt").length == 6
    gfile.Remove("memory://folder/x.txt")
    assert not gfile.Exists("memory://folder/x.txt")


def test_a_folder_without_a_name_is_the_current_one(tmp_path, monkeypatch):
    """Programs make `os.path.dirname("file.txt")`."""
    monkeypatch.chdir(tmp_path)
    gfile.MakeDirs("")
    gfile.MkDir(b"")
    assert not [*tmp_path.iterdir()]
