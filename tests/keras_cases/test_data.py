"""Sequences, texts and arrays become what they do in TensorFlow; batches come in order from workers."""

import hashlib
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from keras_cases import data_cases

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_data.json").read_text())


def assert_agrees(found, recorded):
    if isinstance(recorded, dict):
        assert sorted(found) == sorted(recorded)
        for key in recorded:
            assert_agrees(found[key], recorded[key])
    elif isinstance(recorded, list):
        assert len(found) == len(recorded)
        for each, other in zip(found, recorded, strict=True):
            assert_agrees(each, other)
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=1e-12)
    else:
        assert found == recorded


@pytest.mark.parametrize("case", data_cases.CASES, ids=lambda case: case.__name__)
def test_data_become_what_they_do_in_tensorflow(case):
    found = json.loads(json.dumps(data_cases._plain(case(tf))))
    assert_agrees(found, RECORDED[case.__name__])


class Squares(tf.keras.utils.Sequence):
    def __init__(self, end=6, fails_at=None):
        self.end, self.fails_at, self.rounds = end, fails_at, 0

    def __len__(self):
        return self.end

    def __getitem__(self, index):
        if index == self.fails_at:
            raise KeyError(f"no {index}")
        return index**2 + 100 * self.rounds

    def on_epoch_end(self):
        self.rounds += 1


@pytest.mark.parametrize("with_processes", [False, True])
def test_batches_of_a_sequence_come_in_order(with_processes):
    enqueuer = tf.keras.utils.OrderedEnqueuer(Squares(), use_multiprocessing=with_processes)
    enqueuer.start(workers=2, max_queue_size=3)
    batches = enqueuer.get()
    found = [next(batches) for _ in range(9)]
    enqueuer.stop()
    assert found == [0, 1, 4, 9, 16, 25, 100, 101, 104]
    assert not enqueuer.is_running()


def test_an_error_in_a_worker_is_raised_where_batches_are_taken():
    enqueuer = tf.keras.utils.OrderedEnqueuer(Squares(fails_at=2))
    enqueuer.start(workers=2)
    batches = enqueuer.get()
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(KeyError, match="no 2"):
        next(batches)
    assert not enqueuer.is_running()


def test_a_generator_that_ends_gives_all_it_has():
    enqueuer = tf.keras.utils.GeneratorEnqueuer(iter(range(7)))
    enqueuer.start(max_queue_size=2)
    assert list(enqueuer.get()) == list(range(7))


def test_a_file_is_copied_once_and_again_if_its_hash_is_wrong(tmp_path):
    origin = tmp_path / "origin.txt"
    origin.write_text("first")
    arguments = {"cache_dir": str(tmp_path / "cache"), "cache_subdir": "sub"}
    (tmp_path / "cache").mkdir()
    path = Path(tf.keras.utils.get_file("kept.txt", origin.as_uri(), **arguments))
    assert path == tmp_path / "cache" / "sub" / "kept.txt"
    assert path.read_text() == "first"
    origin.write_text("second")
    assert Path(tf.keras.utils.get_file("kept.txt", str(origin), **arguments)).read_text() == "first"
    digest = hashlib.sha256(b"second").hexdigest()
    assert (
        Path(tf.keras.utils.get_file("kept.txt", str(origin), file_hash=digest, **arguments)).read_text() == "second"
    )
    with pytest.raises(Exception, match=r"URL fetch failure on .*missing.* Put the file at .* and run again"):
        tf.keras.utils.get_file("other.txt", (tmp_path / "missing").as_uri(), **arguments)
    assert sorted(each.name for each in path.parent.iterdir()) == ["kept.txt"]


def test_archives_are_extracted_and_stay_in_their_folder(tmp_path):
    (tmp_path / "inner.txt").write_text("inside")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "inner.txt", "a/inner.txt")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("zipped.txt", "inside, too")
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.add(tmp_path / "inner.txt", "../../escaped.txt")
    cache = tmp_path / "cache"
    cache.mkdir()
    path = Path(tf.keras.utils.get_file("a", str(tmp_path / "a.tar.gz"), untar=True, cache_dir=str(cache)))
    assert (path / "inner.txt").read_text() == "inside"
    tf.keras.utils.get_file("b.zip", str(tmp_path / "b.zip"), extract=True, cache_dir=str(cache))
    assert (path.parent / "zipped.txt").read_text() == "inside, too"
    with pytest.raises(tarfile.TarError):
        tf.keras.utils.get_file("e.tar", str(tmp_path / "evil.tar"), extract=True, cache_dir=str(cache))
    assert not (tmp_path / "escaped.txt").exists()


def test_rows_of_a_matrix_in_a_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "m.h5")
    values = np.arange(20.0).reshape(10, 2)
    with h5py.File(path, "w") as file:
        file["rows"] = values
    matrix = tf.keras.utils.HDF5Matrix(path, "rows", start=2, end=8, normalizer=lambda x: x * 2)
    assert (len(matrix), matrix.shape, matrix.ndim, matrix.size) == (6, (6, 2), 2, 12)
    np.testing.assert_array_equal(matrix[1:3], values[3:5] * 2)
    np.testing.assert_array_equal(matrix[0], values[2] * 2)
    np.testing.assert_array_equal(matrix[[0, 5]], values[[2, 7]] * 2)
    np.testing.assert_array_equal(matrix[np.array([1, 2])], values[3:5] * 2)
    for key in (6, slice(0, 7), [6]):
        with pytest.raises(IndexError):
            matrix[key]
