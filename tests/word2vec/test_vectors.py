"""Vectors in files, and what is said about them."""

import numpy as np
import pytest

from stillflow.word2vec import evaluation, plot, vectors

WORDS = ["the", "naïve", "c"]
MATRIX = np.array([[1.5, 1e-30, -2], [np.pi, 0, 1e20], [0.1, 0.2, 0.3]], np.float32)


@pytest.mark.parametrize("write", [vectors.write_text, vectors.write_binary])
def test_both_formats_can_be_read_back_exactly(write, tmp_path):
    write(tmp_path / "v", WORDS, MATRIX)
    words, matrix = vectors.read(tmp_path / "v")
    assert words == WORDS
    np.testing.assert_array_equal(matrix, MATRIX)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\v", "\x1c"])
def test_only_newlines_end_lines(separator, tmp_path):
    words = [f"a{separator}b", "c"]
    vectors.write_text(tmp_path / "v", words, np.ones((2, 2)))
    found, matrix = vectors.read(tmp_path / "v")
    assert found == words
    np.testing.assert_array_equal(matrix, np.ones((2, 2)))


@pytest.mark.parametrize("content", [b"", b"words\n", b"3 2\nab \x00\x00", b"2 1\nab \0\0\0\0c"])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(ValueError, match="does not begin|too short|ends within"):
        vectors.read(tmp_path / "v")


def test_a_header_alone_does_not_take_memory(tmp_path):
    (tmp_path / "v").write_bytes(b"999999999 999999999\na 1\n")
    with pytest.raises(ValueError, match="too short for 999999999 words"):
        vectors.read(tmp_path / "v")


def test_nearest_words():
    found = evaluation.Vectors(["a", "b", "c", "d"], [[1, 0], [1, 0.1], [-1, 0], [0, 1]])
    assert [word for word, _ in found.nearest("a", 2)] == ["b", "d"]
    assert found.nearest("z") == []
    assert [word for word, _ in found.nearest("a", 8)] == ["b", "d", "c"]  # never itself


def test_spearman_with_ties_is_that_of_the_definition():
    assert evaluation.ranks([10, 20, 20, 5]).tolist() == [2, 3.5, 3.5, 1]
    assert evaluation.spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert evaluation.spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert np.isnan(evaluation.spearman([1, 1], [1, 2])) and np.isnan(evaluation.spearman([1], [1]))


def test_similarity_and_analogies_are_told_apart_by_their_lines(tmp_path):
    model = evaluation.Vectors(
        ["man", "woman", "king", "queen", "car"], [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [-1, 0, 0]]
    )
    (tmp_path / "pairs.txt").write_text("King\tqueen\t8.0\r\nman\twoman\t9\nking car 1\nking unknown 5\n")
    (tmp_path / "questions.txt").write_text(": family\nman woman king queen\nman woman king car\n man king woman x\n")
    score = evaluation.evaluate(model, tmp_path / "pairs.txt")
    assert (score.name, score.used, score.total) == ("pairs", 3, 4) and score.value == pytest.approx(0.5)
    assert evaluation.evaluate(model, tmp_path / "questions.txt") == ("questions", 0.5, 2, 3)


def test_the_picture_keeps_neighbours_together(rng, tmp_path):
    pytest.importorskip("matplotlib")
    centres = rng.normal(size=(4, 20)) * 5
    points = np.repeat(centres, 10, axis=0) + rng.normal(size=(40, 20))
    places = plot.embed(points, iterations=250, perplexity=5)
    groups = np.repeat(np.arange(4), 10)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.all(groups[distances.argmin(axis=1)] == groups)
    plot.draw(tmp_path / "words.png", [str(g) for g in groups], points)
    assert (tmp_path / "words.png").read_bytes()[:4] == b"\x89PNG"
