"""`stillflow word2vec` from its arguments to its files: what it writes and refuses, and that it is repeatable."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.command_line import main
from stillflow.word2vec import model as models

WORDS = "the cat sat on the mat and the dog lay by the door while a bird sang in the tree above them all".split()


@pytest.fixture
def corpus(tmp_path, rng):
    path = tmp_path / "text.txt"
    path.write_text(" ".join(rng.choice(WORDS, 4000)))
    return path


def train(corpus, out, *arguments):
    options = "--dim 8 --batch 64 --negatives 5 --min-count 1 --epochs 1 --plot-words 0".split()
    return main(["word2vec", "--corpus", str(corpus), "--out", str(out), *options, *arguments])


def test_it_writes_vectors_and_says_how_good_they_are(corpus, tmp_path, capsys):
    pairs, analogies = tmp_path / "pairs.txt", tmp_path / "analogies.txt"
    pairs.write_text("cat\tdog\t9.5\nsat\tlay\t8\nmat\ttree\t2\n")
    analogies.write_text(": section\ncat dog bird tree\n")
    out = tmp_path / "out"
    assert train(corpus, out, "--evaluate", str(pairs), str(analogies)) == 0
    said = capsys.readouterr().out
    assert f"4,000 words, {len(set(WORDS))} of them different" in said
    assert "pairs: " in said
    assert "(3 of 3)" in said
    assert "analogies: " in said
    header, *lines = (out / "vectors.txt").read_text().splitlines()
    assert header == f"{len(set(WORDS))} 8"
    assert {line.split()[0] for line in lines} == set(WORDS)
    assert all(len(line.split()) == 9 for line in lines)
    assert (out / "vectors.bin").read_bytes().startswith(f"{header}\n".encode())
    assert not (out / "words.png").exists()


def test_what_tensorboard_shows(corpus, tmp_path):
    out = tmp_path / "out"
    assert train(corpus, out, "--epochs", "8") == 0
    (path,) = out.glob("events.out.tfevents.*")
    kinds, values = {}, {}
    for event in tf.train.summary_iterator(str(path)):
        kinds[event.WhichOneof("what")] = event
        for value in event.summary.value:
            values.setdefault(value.tag, []).append((event.step, value))
    graph = tf.GraphDef.FromString(kinds["graph_def"].graph_def)
    embeddings = next(node for node in graph.node if node.name == "embeddings")
    shape = embeddings.attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [len(set(WORDS)), 8]
    assert "meta_graph_def" in kinds
    assert [step for step, _ in values["loss"]][:2] == [0, 100]
    assert all(np.isfinite(value.simple_value) for _, value in values["loss"] + values["words_per_second"])
    assert [value.histo.num for _, value in values["vectors"]] == [len(set(WORDS)) * 8] * 2
    trace = tf.RunMetadata.FromString(kinds["tagged_run_metadata"].tagged_run_metadata.run_metadata)
    assert trace.step_stats.dev_stats[0].node_stats
    names = (out / "projector" / "words.tsv").read_text().split()
    vectors = np.loadtxt(out / "projector" / "vectors.tsv")
    assert set(names) == set(WORDS) and vectors.shape == (len(names), 8)
    assert 'tensor_path: "projector/vectors.tsv"' in (out / "projector_config.pbtxt").read_text()


def test_the_picture(corpus, tmp_path):
    pytest.importorskip("matplotlib")
    assert train(corpus, tmp_path / "out", "--plot-words", "15") == 0
    assert (tmp_path / "out" / "words.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_bits_for_any_number_of_threads_and_other_ones_for_another_seed(corpus, tmp_path):
    found = []
    for i, arguments in enumerate((["--threads", "1"], ["--threads", "3"], ["--seed", "2"])):
        assert train(corpus, tmp_path / str(i), "--negatives", "12", *arguments) == 0
        found.append((tmp_path / str(i) / "vectors.bin").read_bytes())
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_words_that_occur_together_become_similar(tmp_path):
    """Two groups of words that never meet end up apart."""
    rng = np.random.default_rng(0)
    groups = ["red green blue".split(), "one two three".split()]
    lines = [" ".join(rng.choice(groups[i % 2], 30)) for i in range(400)]
    corpus = tmp_path / "text.txt"
    corpus.write_text("\n\n".join(lines))
    assert train(corpus, tmp_path / "out", "--epochs", "5", "--subsample", "0", "--negatives", "3") == 0
    _, *rows = (tmp_path / "out" / "vectors.txt").read_text().splitlines()
    vectors = {row.split()[0]: np.array(row.split()[1:], float) for row in rows}
    unit = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    assert unit["red"] @ unit["green"] > unit["red"] @ unit["two"] + 0.3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file"),
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x00\x01\x02 abc", "is not UTF-8 text: byte 0 is 0x00"),
        (b"caf\xe9 au lait", "is not UTF-8 text: byte 3 is 0xe9"),
        (b"same same same", "has 1 words that occur 1 times or more"),
        (b"just four words here", "has 4 words, no more than the window of 5"),
    ],
)
def test_a_bad_corpus_is_one_sentence_and_exit_code_2(content, sentence, tmp_path, capsys):
    corpus = tmp_path / "text.txt"
    if content is not None:
        corpus.write_bytes(content)
    assert train(corpus, tmp_path / "out") == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not (tmp_path / "out").exists()


def test_a_directory_is_no_corpus(tmp_path, capsys):
    assert train(tmp_path, tmp_path / "out") == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--dim", "0"], "--dim must be at least 1, and is 0"),
        (["--window", "300"], "--window must be at most 255, and is 300"),
        (["--learning-rate", "nan"], "--learning-rate must not be negative, and is nan"),
        (["--learning-rate", "inf"], "--learning-rate must be a number, and is infinite"),
        (["--seed", "-1"], "--seed must not be negative, and is -1"),
        (["--seed", str(2**63)], "--seed must be at most 9223372036854775807, and is 9223372036854775808"),
        (["--threads", str(2**31)], "--threads must be at most 2147483647, and is 2147483648"),
        (["--batch", str(2**40)], "--batch must be at most 1073741823, and is 1099511627776"),
        (["--evaluate", "missing.txt"], "There is no file missing.txt"),
    ],
)
def test_bad_options_are_one_sentence_and_exit_code_2(arguments, sentence, corpus, tmp_path, capsys):
    assert train(corpus, tmp_path / "out", *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_training_that_diverges_says_so(corpus, tmp_path, capsys):
    assert train(corpus, tmp_path / "out", "--learning-rate", "1e30") == 2
    assert "Training diverged: at step" in capsys.readouterr().err


def test_a_text_that_does_not_fill_a_batch_teaches_nothing(corpus, tmp_path, capsys):
    assert train(corpus, tmp_path / "out", "--batch", "1000000") == 2
    assert "fewer than 1000000 pairs of words in all epochs" in capsys.readouterr().err
    assert not (tmp_path / "out" / "vectors.txt").exists()


def test_too_little_memory_is_said_in_a_sentence(corpus, tmp_path, capsys, monkeypatch):
    def build(*sizes):
        raise MemoryError

    monkeypatch.setattr(models, "build", build)
    assert train(corpus, tmp_path / "out", "--dim", "2000000000") == 2
    assert "not enough memory for vectors of 2,000,000,000 numbers for 19 words" in capsys.readouterr().err


def test_an_evaluation_file_of_another_kind_is_said_to_be_one(corpus, tmp_path, capsys):
    other = tmp_path / "other.txt"
    other.write_text("cat dog very\n")
    assert train(corpus, tmp_path / "out", "--evaluate", str(other)) == 0
    assert "neither word pairs with scores nor analogies" in capsys.readouterr().err
