"""tf.io.gfile: the newer names of tf.gfile's functions."""

import pytest

import stillflow as tf

gfile = tf.io.gfile


def test_files_and_directories(tmp_path):
    root = str(tmp_path / "a")
    gfile.makedirs(root + "/b")
    gfile.mkdir(root + "/c")
    with gfile.GFile(root + "/b/x.txt", "w") as file:
        file.write("text")
    assert gfile.exists(root + "/b/x.txt") and not gfile.exists(root + "/y")
    assert gfile.isdir(root) and not gfile.isdir(root + "/b/x.txt")
    assert sorted(gfile.listdir(root)) == ["b", "c"]
    assert gfile.stat(root + "/b/x.txt").length == 4
    gfile.copy(root + "/b/x.txt", root + "/c/y.txt")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(root + "/b/x.txt", root + "/c/y.txt")
    gfile.copy(root + "/b/x.txt", root + "/c/y.txt", overwrite=True)
    gfile.rename(root + "/c/y.txt", root + "/c/z.txt")
    assert gfile.glob(root + "/c/*") == [root + "/c/z.txt"]
    assert gfile.glob([root + "/c/*", root + "/b/*"]) == [root + "/c/z.txt", root + "/b/x.txt"]
    gfile.remove(root + "/c/z.txt")
    gfile.rmtree(root)
    assert not gfile.exists(root)


def test_walks_go_down_and_up(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").write_text("")
    down = list(gfile.walk(str(tmp_path)))
    assert down == [
        (str(tmp_path), ["a"], []), (str(tmp_path / "a"), ["b"], ["f"]), (str(tmp_path / "a" / "b"), [], []),
    ]  # fmt: skip
    assert list(gfile.walk(tmp_path, topdown=False)) == down[::-1]
    seen = []
    assert list(gfile.walk(str(tmp_path / "none"), onerror=seen.append)) == []
    assert len(seen) == 1 and isinstance(seen[0], tf.errors.NotFoundError)
    assert list(gfile.walk(str(tmp_path / "none"))) == []


def test_what_is_missing_is_named(tmp_path):
    missing = str(tmp_path / "none")
    for function in (gfile.listdir, gfile.remove, gfile.rmtree, gfile.stat):
        with pytest.raises(tf.errors.NotFoundError):
            function(missing)
