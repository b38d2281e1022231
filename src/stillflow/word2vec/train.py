"""Training: batches from the corpus into the model until the epochs are over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import stillflow as tf
from stillflow._corpus import Corpus, SkipGramBatches
from stillflow.word2vec import model as models
from stillflow.word2vec.events import Events
from stillflow.word2vec.options import Options
from stillflow.word2vec.progress import Progress

# The loss is fetched so often; in between steps need not return anything.
_STEPS_PER_LOSS = 100
_LAST_LEARNING_RATE = 1e-4  # as a share of the first


class TrainingError(Exception):
    """Why nothing was learnt, in a sentence."""


class Result(NamedTuple):
    vectors: np.ndarray  # float32[words, dim]
    loss: float  # the mean of the last tenth
    words_per_second: float


def train(corpus: Corpus, options: Options) -> Result:
    """Learns a vector for every word. The same corpus and options give the same bits for any number of threads.

    Raises TrainingError where vectors become infinite or NaN, the text does not fill one batch, or memory does not
    suffice.
    """
    try:
        return _train(corpus, options)
    except (MemoryError, tf.errors.ResourceExhaustedError):
        raise TrainingError(
            f"There is not enough memory for vectors of {options.dim:,} numbers for {len(corpus.words):,} words, in "
            f"batches of {options.batch:,} pairs with {options.negatives:,} negatives."
        ) from None


def _train(corpus, options):
    with tf.Graph().as_default():
        model = models.build(len(corpus.words), options.dim, options.batch, options.negatives, options.seed)
        config = tf.ConfigProto(intra_op_parallelism_threads=options.threads)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            events = Events(options.out, model.embeddings)
            try:
                loss, progress = _run_epochs(session, model, corpus, options, events)
            finally:
                events.close()
            return Result(session.run(model.embeddings), loss, progress.words_per_second or 0.0)


def _diverged(step):
    return TrainingError(
        f"Training diverged: at step {step} vectors are no longer numbers. A lower --learning-rate, a smaller "
        "--batch or more --negatives may help."
    )


def _run_epochs(session, model, corpus, options, events):
    total_words = corpus.text_word_count * options.epochs
    progress = Progress(total_words)
    batches = SkipGramBatches(
        corpus, options.batch, options.window, options.subsample, options.epochs, seed=options.seed
    )
    losses = []
    step = -1
    events.add_vectors(session, 0)
    try:
        for step, (inputs, labels, done) in enumerate(batches):
            rate = options.learning_rate * max(1 - done, _LAST_LEARNING_RATE)
            feed = {model.inputs: inputs, model.labels: labels, model.learning_rate: rate}
            if step % _STEPS_PER_LOSS:
                session.run(model.train, feed)
            else:
                run_options, metadata = events.run_options(step)
                losses.append(float(session.run([model.train, model.loss], feed, run_options, metadata)[1]))
                if not math.isfinite(losses[-1]):
                    raise _diverged(step)
                progress.update(int(done * total_words), losses[-1])
                events.add(step, losses[-1], progress.words_per_second, metadata)
        if step < 0:
            raise TrainingError(
                f"The text has fewer than {options.batch} pairs of words in all epochs, which is not one batch: a "
                "smaller --batch is needed."
            )
        if not np.isfinite(session.run(model.embeddings)).all():
            raise _diverged(step)
        events.add_vectors(session, step + 1)
    finally:
        progress.close()
    recent = losses[-max(len(losses) // 10, 1) :]
    return float(np.mean(recent)), progress
