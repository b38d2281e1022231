"""Texts as vocabularies and sequences, and the batches of pairs made from them."""

import collections

import numpy as np
import pytest
from stillflow._corpus import Corpus, SkipGramBatches, find_non_text

from stillflow.word2vec.text import spelled_alike


def test_words_are_lower_case_runs_numbered_by_frequency_then_place():
    corpus = Corpus("The cat's mat_1: the CAT sat, Ärger über alles\n".encode())
    assert corpus.words == ["the", "cat", "s", "mat_1", "sat", "Ärger", "über", "alles"]
    assert corpus.counts.tolist() == [2, 2, 1, 1, 1, 1, 1, 1]
    assert corpus.sequence().tolist() == [0, 1, 2, 3, 0, 1, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "\u201cNaïve\u201d\u2026 \u2014 said \u00abÜnal\u00bb \u2018I\u2019 we\u2019d\u3001你好\u3002",
            ["naïve", "said", "ünal", "i", "we", "d", "你好"],
        ),
        ("a\u00a0b\u2009c\u3000d\ufeffe co\u00adop \u2014 \u2013", ["a", "b", "c", "de", "coop"]),
        ("CAFÉ café Σ\u039fΦΌΣ हिन्दी x² 5€", ["café", "σοφός", "हिन्दी", "x²", "5"]),
        ("plain ASCII", ["plain", "ascii"]),
    ],
)
def test_marks_beyond_ascii_are_no_part_of_words(text, words):
    assert Corpus(spelled_alike(text.encode())).words == words


def test_separators_of_lines_and_paragraphs_beyond_ascii():
    assert Corpus(spelled_alike("a\u2028b\u2029c\x85d é".encode())).sequence().tolist() == [0, 1, -1, 2, 3, 4]


def test_rare_words_and_those_beyond_the_most_are_left_out():
    corpus = Corpus(b"a b a c b a d", min_count=2)
    assert corpus.words == ["a", "b"] and corpus.sequence().tolist() == [0, 1, 0, 1, 0]
    assert (corpus.text_word_count, corpus.kept_word_count) == (7, 5)
    assert Corpus(b"a b a c b a d", most_words=1).words == ["a"]


def test_an_empty_line_ends_a_paragraph():
    assert Corpus(b"a\nb\n\n\nc\n \nd").sequence().tolist() == [0, 1, -1, 2, -1, 3]
    assert Corpus(b"").words == []


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"plain", -1),
        ("Grüße, 世界 🙂".encode(), -1),
        (b"a\x00b", 1),
        (b"ab\xff", 2),
        (b"\xc3", 0),
        (b"a\xe4\xb8", 1),
        (b"\xed\xa0\x80", 0),
        (b"\xc0\xaf", 0),
        (b"\xf5\x80\x80\x80", 0),
        (b"", -1),
    ],
)
def test_what_is_no_text(text, offset):
    assert find_non_text(text) == offset


def pairs(corpus, **options):
    found = []
    for inputs, labels, _ in SkipGramBatches(corpus, 1, **options):
        found.append((int(inputs[0]), int(labels[0, 0])))
    return found


def test_every_word_is_paired_with_its_neighbours_within_its_reach(rng):
    words = rng.integers(0, 50, 2000)
    corpus = Corpus(" ".join(f"w{w}" for w in words).encode())
    sequence = corpus.sequence().tolist()
    found = collections.Counter(pairs(corpus, window=3, readers=1))
    widest = collections.Counter()
    nearest = collections.Counter()
    for i, word in enumerate(sequence):
        for j in range(max(i - 3, 0), min(i + 4, len(sequence))):
            if j != i:
                widest[word, sequence[j]] += 1
                nearest[word, sequence[j]] += abs(i - j) == 1
    assert not found - widest and not nearest - found
    assert 0.6 < sum(found.values()) / sum(widest.values()) < 0.73  # reaches of 1, 2 and 3 are equally likely


def test_windows_stop_at_paragraphs():
    corpus = Corpus(b"a b\n\nc d")
    assert set(pairs(corpus, window=5)) == {(0, 1), (1, 0), (2, 3), (3, 2)}


def test_subsampling_thins_out_frequent_words():
    corpus = Corpus(b"common " * 9000 + b"rare other " * 500)
    kept = collections.Counter(word for word, _ in pairs(corpus, window=1, subsample=1e-3, readers=1))
    everything = collections.Counter(word for word, _ in pairs(corpus, window=1, readers=1))
    assert kept[0] < 0.1 * everything[0]


def test_batches_are_full_and_progress_reaches_the_end(rng):
    corpus = Corpus(" ".join(f"w{w}" for w in rng.integers(0, 50, 5000)).encode())
    batches = list(SkipGramBatches(corpus, 64, window=2, epochs=2, readers=4))
    assert all(inputs.shape == (64,) and labels.shape == (64, 1) for inputs, labels, _ in batches)
    assert batches[0][0].dtype == np.int32 and batches[0][1].dtype == np.int64
    progress = [share for *_, share in batches]
    assert progress == sorted(progress) and 0.98 < progress[-1] <= 1


def test_the_same_seed_gives_the_same_batches_and_another_one_others(rng):
    corpus = Corpus(" ".join(f"w{w}" for w in rng.integers(0, 50, 3000)).encode())

    def batches(seed):
        return [inputs.tobytes() + labels.tobytes() for inputs, labels, _ in SkipGramBatches(corpus, 32, seed=seed)]

    assert batches(1) == batches(1) != batches(2)


def test_a_stream_that_is_not_used_up_goes_away(rng):
    corpus = Corpus(b"a b c d e " * 20000)
    for _ in range(5):
        next(iter(SkipGramBatches(corpus, 16, epochs=50)))


@pytest.mark.parametrize(
    "options", [{"batch_size": 0}, {"batch_size": 4, "window": 0}, {"batch_size": 4, "readers": 0}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match="batch_size"):
        SkipGramBatches(Corpus(b"a b"), **options)
