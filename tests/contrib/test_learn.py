"""tf.contrib.learn against what TensorFlow 1.15.5 made of the same programs."""

import json
from pathlib import Path

import pytest
from contrib import learn_scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "contrib_learn.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.FileWriterCache.clear()  # it knows folders by their paths, which are relative here
    found = json.loads(json.dumps(getattr(learn_scenarios, name)(tf)))
    assert found == RECORDED[name]


def test_vocabularies_that_tensorflow_wrote_are_read():
    # Written by VocabularyProcessor(3).fit(["a b a"]) of TensorFlow 1.15.5.
    path = Path(__file__).parent.parent / "data" / "tensorflow_vocabulary.pickle"
    processor = tf.contrib.learn.preprocessing.VocabularyProcessor.restore(path)
    assert [row.tolist() for row in processor.transform(["b a c"])] == [[2, 1, 0]]


def test_files_are_fetched_from_folders_and_said_to_be_missing(tmp_path):
    base = tf.contrib.learn.datasets.base
    source = tmp_path / "source.txt"
    source.write_text("text")
    for where in (source.as_uri(), str(source)):
        folder = tmp_path / where[-9:].replace("/", "_") / where[:4].strip("/")
        found = base.maybe_download("name.txt", str(folder), where)
        assert Path(found).read_text() == "text"
    source.unlink()
    assert base.maybe_download("name.txt", str(folder), str(source)) == found
    with pytest.raises(FileNotFoundError, match=r"other\.txt is not in .* Put the file there"):
        base.maybe_download("other.txt", str(tmp_path), source.as_uri())


def test_calls_are_repeated():
    calls = []

    @tf.contrib.learn.datasets.base.retry(0.0, 0.0001, factor=1.0, jitter=0.0)
    def fails_twice():
        calls.append(1)
        if len(calls) < 3:
            raise OSError
        return len(calls)

    assert fails_twice() == 3


def test_the_network_of_the_tutorial_learns():
    from stillflow.examples.tutorials.mnist import mnist

    tf.set_random_seed(1)
    images, labels = tf.Variable(tf.random_normal([8, 784]), trainable=False), tf.constant([1, 2] * 4)
    logits = mnist.inference(images, 16, 8)
    loss = mnist.loss(logits, labels)
    train, correct = mnist.training(loss, 0.1), mnist.evaluation(logits, labels)
    assert [v.op.name for v in tf.trainable_variables()][:2] == ["hidden1/weights", "hidden1/biases"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(60):
            session.run(train)
        assert session.run(loss) < before / 2
        assert 0 <= session.run(correct) <= 8
