"""The tutorial's skip-gram model, with noise-contrastive estimation:

    stillflow run -m tensorflow.examples.tutorials.word2vec.word2vec_basic --log_dir log

The text is text8.zip in the folder of temporary files, which is downloaded where it is missing.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import math
import random
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.sampled_losses import nce_loss
from stillflow.composites.summaries import merge_all, scalar
from stillflow.examples.downloads import downloaded
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.random.sampling import random_uniform, truncated_normal
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.summary.projector import visualize_embeddings
from stillflow.summary.writer import FileWriter
from stillflow.training.gradient_descent import GradientDescentOptimizer
from stillflow.variables.listing import global_variables_initializer
from stillflow.variables.variable import Variable

public_module("examples.tutorials.word2vec.word2vec_basic")

SOURCE_URL = "http://mattmahoney.net/dc/"
_VOCABULARY, _SIZE, _BATCH, _WINDOW, _SKIPS, _SAMPLED = 50000, 128, 128, 1, 2, 64
_STEPS, _REPORT, _NEIGHBOR_REPORT = 100001, 2000, 10000
_SHOWN_WORDS, _FREQUENT_WORDS, _NEIGHBORS, _DRAWN_WORDS = 16, 100, 8, 500


def read_words(path):
    """The words of the first file in an archive."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(archive.namelist()[0]).decode().split()


def build_dataset(words, n_words):
    """(numbers of the words, [[word, count]], {word: number}, {number: word}) with the most frequent words.

    Number 0, "UNK", stands for all others.
    """
    count: list = [["UNK", -1], *map(list, collections.Counter(words).most_common(n_words - 1))]
    numbers = {word: number for number, (word, _) in enumerate(count)}
    data = [numbers.get(word, 0) for word in words]
    count[0][1] = data.count(0)
    return data, count, numbers, {number: word for word, number in numbers.items()}


class Pairs:
    """Pairs of words and neighbors in a text, in order, from its beginning again after its end."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def batch(self, batch_size, num_skips, skip_window):
        """(words [batch_size], neighbors [batch_size, 1]): of each word `num_skips` neighbors in its window."""
        words = np.empty([batch_size], np.int32)
        neighbors = np.empty([batch_size, 1], np.int32)
        around = [place for place in range(-skip_window, skip_window + 1) if place]
        for i in range(0, batch_size, num_skips):
            if self._at + 2 * skip_window >= len(self._data):
                self._at = 0
            middle = self._at + skip_window
            words[i : i + num_skips] = self._data[middle]
            for j, place in enumerate(random.sample(around, num_skips)):
                neighbors[i + j, 0] = self._data[middle + place]
            self._at += 1
        return words, neighbors


class _Model:
    """The graph: vectors, their loss and optimizer, and how alike words are."""

    def __init__(self, vocabulary_size, shown):
        with name_scope("inputs"):
            self.words = ops.placeholder(dtypes.int32, shape=[_BATCH])
            self.neighbors = ops.placeholder(dtypes.int32, shape=[_BATCH, 1])
            shown = ops.constant(shown, dtype=dtypes.int32)
        with name_scope("embeddings"):
            self.vectors = Variable(random_uniform([vocabulary_size, _SIZE], -1.0, 1.0))
            chosen = embedding_lookup(self.vectors, self.words)
        with name_scope("weights"):
            weights = Variable(truncated_normal([vocabulary_size, _SIZE], stddev=1.0 / math.sqrt(_SIZE)))
        with name_scope("biases"):
            biases = Variable(ops.zeros([vocabulary_size]))
        with name_scope("loss"):
            losses = nce_loss(weights, biases, self.neighbors, chosen, _SAMPLED, vocabulary_size)
            self.loss = ops.reduce_mean(losses)
        scalar("loss", self.loss)
        with name_scope("optimizer"):
            self.step = GradientDescentOptimizer(1.0).minimize(self.loss)
        norms = ops.sqrt(ops.reduce_sum(ops.square(self.vectors), 1, keepdims=True))
        self.unit_vectors = self.vectors / norms
        self.likeness = ops.matmul(embedding_lookup(self.unit_vectors, shown), self.unit_vectors, transpose_b=True)
        self.summary = merge_all()
        self.init = global_variables_initializer()
        self.saver = Saver()


def word2vec_basic(log_dir, num_steps=_STEPS):
    """Learns vectors of text8's words; writes summaries, a checkpoint and a projector's files into a folder.

    Raises FileNotFoundError if the text is not there and cannot be downloaded.
    """
    Path(log_dir).mkdir(parents=True, exist_ok=True)
    words = read_words(downloaded("text8.zip", tempfile.gettempdir(), SOURCE_URL, "word2vec_basic"))
    print("Data size", len(words))
    data, count, _, names = build_dataset(words, _VOCABULARY)
    del words
    print("Most common words (+UNK)", count[:5])
    print("Sample data", data[:10], [names[number] for number in data[:10]])
    pairs = Pairs(data)
    shown = np.random.choice(min(_FREQUENT_WORDS, len(count)), min(_SHOWN_WORDS, len(count)), replace=False)
    with Graph().as_default() as graph:
        model = _Model(len(count), shown)
    with Session(graph=graph) as session:
        writer = FileWriter(log_dir, session.graph)
        model.init.run()
        print("Initialized")
        _train(session, model, pairs, writer, shown, names, num_steps)
        vectors = session.run(model.unit_vectors)
        _write(session, model, writer, log_dir, names)
    _draw(vectors, names)


def _train(session, model, pairs, writer, shown, names, num_steps):
    total = 0.0
    for step in range(num_steps):
        words, neighbors = pairs.batch(_BATCH, _SKIPS, _WINDOW)
        feeds = {model.words: words, model.neighbors: neighbors}
        _, summary, loss = session.run([model.step, model.summary, model.loss], feed_dict=feeds)
        writer.add_summary(summary, step)
        total += loss
        if step % _REPORT == 0:
            print("Average loss at step ", step, ": ", total / (_REPORT if step else 1))
            total = 0.0
        if step % _NEIGHBOR_REPORT == 0:
            _print_neighbors(session.run(model.likeness), shown, names)


def _print_neighbors(likeness, shown, names):
    for number, row in zip(shown, likeness, strict=True):
        nearest = (-row).argsort()[1 : _NEIGHBORS + 1]
        print(f"Nearest to {names[number]}: {', '.join(names[other] for other in nearest)},")


def _write(session, model, writer, log_dir, names):
    metadata = Path(log_dir, "metadata.tsv")
    metadata.write_text("".join(f"{names[number]}\n" for number in range(len(names))))
    model.saver.save(session, str(Path(log_dir, "model.ckpt")))
    config = protobuf.message("ProjectorConfig")()
    config.embeddings.add(tensor_name=model.vectors.name, metadata_path=str(metadata))
    visualize_embeddings(writer, config)
    writer.close()


def _draw(vectors, names):
    """A picture of the most frequent words, if there are packages that make one."""
    try:
        manifold = importlib.import_module("sklearn.manifold")
        plot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        print("Please install sklearn, matplotlib, and scipy to show embeddings.")
        print(error)
        return
    places = manifold.TSNE(perplexity=30, n_components=2, init="pca", method="exact").fit_transform(
        vectors[:_DRAWN_WORDS]
    )
    plot.figure(figsize=(18, 18))
    for number, (x, y) in enumerate(places):
        plot.scatter(x, y)
        plot.annotate(names[number], xy=(x, y), xytext=(5, 2), textcoords="offset points", ha="right", va="bottom")
    plot.savefig(Path(tempfile.gettempdir(), "tsne.png"))


def main(_argv=None):
    """Takes the folder from the command line: --log_dir, by default "log" beside the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log_dir", default=str(Path(sys.argv[0]).resolve().parent / "log"))
    flags, _ = parser.parse_known_args()
    word2vec_basic(flags.log_dir)


if __name__ == "__main__":
    main()
