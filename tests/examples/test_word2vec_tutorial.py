"""tensorflow.examples.tutorials.word2vec: batches, the vocabulary, and a short run over a made-up text."""

import itertools
import zipfile

import numpy as np
import pytest

import stillflow as tf
from stillflow.examples.tutorials.word2vec import word2vec_basic as tutorial


def test_words_are_numbered_by_their_frequency():
    data, count, numbers, names = tutorial.build_dataset("b a b c b a".split(), 3)
    assert count == [["UNK", 1], ["b", 3], ["a", 2]]
    assert data == [1, 2, 1, 0, 1, 2]
    assert numbers == {"UNK": 0, "b": 1, "a": 2}
    assert names == {0: "UNK", 1: "b", 2: "a"}


@pytest.mark.parametrize(("skips", "window"), [(2, 1), (4, 2), (1, 3)])
def test_pairs_are_neighbors_in_the_text_and_go_round(skips, window):
    pairs = tutorial.Pairs(list(range(10)))
    for _ in range(5):
        words, neighbors = pairs.batch(4 * skips, skips, window)
        assert np.all(np.abs(words - neighbors[:, 0]) <= window)
        for _, group in itertools.groupby(zip(words, neighbors[:, 0], strict=True), key=lambda pair: pair[0]):
            others = [int(neighbor) for _, neighbor in group]
            assert len(set(others)) == len(others) == skips
    assert set(words) <= set(range(window, 10 - window))


def test_a_run_learns_and_writes_what_tensorboard_shows(tmp_path, monkeypatch, capsys):
    words = " ".join(f"w{number}" for number in np.random.RandomState(0).zipf(1.5, 2000) % 300)
    with zipfile.ZipFile(tmp_path / "text8.zip", "w") as archive:
        archive.writestr("text8", words)
    monkeypatch.setattr(tutorial.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tutorial, "_draw", lambda *_: None)
    monkeypatch.setattr(tutorial, "_REPORT", 100)
    tutorial.word2vec_basic(tmp_path / "log", num_steps=201)
    said = capsys.readouterr().out
    losses = [float(line.rpartition(":")[2]) for line in said.splitlines() if line.startswith("Average loss")]
    assert losses[0] > losses[1] > losses[2]
    assert "Nearest to" in said
    files = {path.name for path in (tmp_path / "log").iterdir()}
    assert {"metadata.tsv", "model.ckpt.index", "projector_config.pbtxt"} <= files
    assert tf.train.latest_checkpoint(str(tmp_path / "log")) == str(tmp_path / "log" / "model.ckpt")


def test_a_text_that_is_nowhere_is_said_where_to_put(tmp_path, monkeypatch):
    monkeypatch.setattr(tutorial, "SOURCE_URL", (tmp_path / "nothing").as_uri() + "/")
    monkeypatch.setattr(tutorial.tempfile, "gettempdir", lambda: str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"needs the file text8\.zip in the directory .* Put the file there"):
        tutorial.word2vec_basic(str(tmp_path / "log"))
