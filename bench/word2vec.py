"""`python -m bench.word2vec`: `stillflow word2vec` beside gensim on one corpus: words per second and scores.

    python -m bench.word2vec --corpus FILE --pairs FILE [--epochs N] [--threads N] [--turns N]

Both learn 100 numbers per word with a window of 5 and the same number of epochs; gensim with its usual 5 negatives.
They take turns, and the figures are the medians. Words are counted before frequent ones are dropped. gensim is
looked for in the environment of TensorFlow 2 (tools/make_peers.py).
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
GENSIM = """
import json, sys, time
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence

corpus, epochs, threads, vectors = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
model = Word2Vec(
    vector_size=100, window=5, sg=1, negative=5, sample=1e-4, min_count=5, workers=threads, epochs=epochs
)
sentences = LineSentence(corpus, max_sentence_length=10000)
model.build_vocab(sentences)
start = time.perf_counter()
_, words = model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
seconds = time.perf_counter() - start
model.wv.save_word2vec_format(vectors, binary=False)
print(json.dumps({"words_per_second": words / seconds}))
"""


def run_stillflow(corpus, epochs, threads, directory):
    command = [sys.executable, "-m", "stillflow.command_line", "word2vec", "--corpus", corpus, "--out", directory,
               "--epochs", str(epochs), "--threads", str(threads), "--plot-words", "0"]  # fmt: skip
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"trained at ([\d,]+) words/s", output).group(1).replace(",", ""))


def run_gensim(corpus, epochs, threads, directory):
    peers = Path(os.environ.get("STILLFLOW_PEER_TF2", ROOT / ".venv-tf2"))
    command = [str(peers / "bin" / "python"), "-c", GENSIM, corpus, str(epochs), str(threads),
               str(Path(directory) / "vectors.txt")]  # fmt: skip
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(output)["words_per_second"]


def score(directory, pairs):
    """Spearman's correlation of similarities with people's."""
    import numpy as np

    from stillflow.word2vec import evaluation

    words, rows = [], []
    with open(Path(directory) / "vectors.txt", encoding="utf-8") as file:
        next(file)
        for line in file:
            word, *numbers = line.rstrip().split(" ")
            words.append(word)
            rows.append(np.array(numbers, np.float32))
    return evaluation.evaluate(evaluation.Vectors(words, np.stack(rows)), Path(pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    runners = {"stillflow": run_stillflow, "gensim": run_gensim}
    speeds = {name: [] for name in runners}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(arguments.turns):
            for name, runner in runners.items():
                out = Path(directory) / name
                out.mkdir(exist_ok=True)
                speeds[name].append(runner(arguments.corpus, arguments.epochs, arguments.threads, str(out)))
        for name, found in speeds.items():
            print(
                f"{name}: {statistics.median(found):,.0f} words/s; {score(Path(directory) / name, arguments.pairs)}"
            )


if __name__ == "__main__":
    main()
