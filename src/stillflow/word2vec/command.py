"""What `stillflow word2vec` does, and what it says."""

from __future__ import annotations

import sys

from stillflow.word2vec import evaluation, events, options, plot, text, train, vectors


def run(arguments) -> int:
    """Trains, evaluates, writes. Returns the exit code.

    0, or 2 for bad input and options with which nothing is learnt, with a sentence on stderr.
    """
    try:
        chosen = options.from_arguments(arguments)
        path = chosen.corpus or text.BOOKS
        corpus = text.load(path, chosen.min_count, chosen.most_words, chosen.window)
        for file in chosen.evaluate:
            if not file.is_file():
                raise text.CorpusError(f"There is no file {file}.")
        chosen.out.mkdir(parents=True, exist_ok=True)
    except (text.CorpusError, ValueError) as error:
        print(f"stillflow word2vec: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"stillflow word2vec: {chosen.out} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    print(f"{path}: {corpus.text_word_count:,} words, {len(corpus.words):,} of them different and frequent enough")
    try:
        result = train.train(corpus, chosen)
    except train.TrainingError as error:
        print(f"stillflow word2vec: {error}", file=sys.stderr)
        return 2
    print(f"trained at {result.words_per_second:,.0f} words/s, loss {result.loss:.4f}")
    _report(evaluation.Vectors(corpus.words, result.vectors), chosen)
    _write(corpus.words, result.vectors, chosen)
    return 0


def _report(model, chosen):
    for word in _shown_words(model.words):
        print(f"{word}: {', '.join(near for near, _ in model.nearest(word))}")
    for path in chosen.evaluate:
        try:
            print(evaluation.evaluate(model, path))
        except ValueError as error:
            print(f"{path} holds neither word pairs with scores nor analogies: {error}", file=sys.stderr)


def _shown_words(words):
    """A few words that are frequent but no function words."""
    return words[100:1000:100] if len(words) > 1000 else words[len(words) // 4 :: max(len(words) // 8, 1)]


def _write(words, matrix, chosen):
    vectors.write_text(chosen.out / "vectors.txt", words, matrix)
    vectors.write_binary(chosen.out / "vectors.bin", words, matrix)
    events.write_projector(chosen.out, words, matrix)
    written = ["vectors.txt", "vectors.bin"]
    if chosen.plot_words >= 10 and len(words) >= 10:
        try:
            shown = min(chosen.plot_words, len(words))
            plot.draw(chosen.out / "words.png", words[:shown], matrix[:shown])
            written.append("words.png")
        except ImportError:
            print("no picture: it needs matplotlib (pip install stillflow[plot])", file=sys.stderr)
    print(f"wrote {', '.join(written)} to {chosen.out}; see also: tensorboard --logdir {chosen.out}")
