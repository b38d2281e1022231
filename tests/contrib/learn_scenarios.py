"""tf.contrib.learn: what TensorFlow 1.15.5 makes of it is in tests/golden/contrib_learn.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np

TEXTS = ["the cat sat on the mat", "The CatHouse isn't a DOG-house", "a cat, a dog", ""]


def _rows(rows):
    return [[int(value) for value in row] for row in rows]


def vocabularies(tf):
    """Words and their numbers."""
    preprocessing, found = tf.contrib.learn.preprocessing, []
    for given in ({}, {"min_frequency": 1}, {"tokenizer_fn": lambda texts: (list(t) for t in texts)}):
        processor = preprocessing.VocabularyProcessor(5, **given)
        found.append(_rows(processor.fit_transform(TEXTS)))
        found.append(_rows(processor.transform(["a new cat"])))
        found.append(list(processor.reverse(found[-2])))
        found.append(len(processor.vocabulary_))
    processor.vocabulary_.freeze(False)
    found.append([processor.vocabulary_.get("new"), processor.vocabulary_.add("new"), len(processor.vocabulary_)])
    vocabulary = preprocessing.CategoricalVocabulary("?", support_reverse=False)
    for word, count in (("a", 3), ("b", 5), ("c", 1), ("d", 5)):
        vocabulary.add(word, count)
    vocabulary.trim(1, 5)
    found.append([vocabulary.get("a"), vocabulary.get("c"), len(vocabulary)])
    categories = preprocessing.CategoricalProcessor()
    found.append(_rows(categories.fit_transform([["x", 1], ["y", 2], ["x", float("nan")]])))
    shared = preprocessing.CategoricalProcessor(share=True)
    found.append(_rows(shared.fit_transform([["x", "z"], ["y", "x"]])))
    data = preprocessing.ByteProcessor(6)
    found.append(_rows(data.transform(["abc", "h\u00e4llo"])))
    found.append(list(data.reverse([np.array([97, 98, 0], np.uint8)])))
    found.append([list(tokens) for tokens in preprocessing.tokenizer(TEXTS)])
    return found


def saved(tf):
    """A vocabulary from a file, and what is in the pickle."""
    preprocessing = tf.contrib.learn.preprocessing
    processor = preprocessing.VocabularyProcessor(4)
    processor.fit(TEXTS)
    processor.save("vocabulary")
    again = preprocessing.VocabularyProcessor.restore("vocabulary")
    state = sorted(vars(pickle.loads(Path("vocabulary").read_bytes())))
    return [_rows(again.transform(TEXTS)), sorted(vars(again)), sorted(vars(again.vocabulary_)), state]


def data_sets(tf):
    """Small data sets."""
    datasets, found = tf.contrib.learn.datasets, []
    iris = datasets.load_iris()
    found.append([list(iris.data.shape), iris.data.sum().round(6), iris.data[7].tolist(), iris.target[::30].tolist()])
    assert np.array_equal(datasets.load_dataset("iris").data, iris.data)
    Path("a.csv").write_text("2,2,x\n1,2,0\n3,4,1\n")
    boston = datasets.load_boston("a.csv")
    found.append([boston.data.tolist(), boston.target.tolist()])
    Path("b.csv").write_text("0,a,b\n1,c,d\n0,e,f\n")
    texts = datasets.base.load_csv_without_header("b.csv", np.int32, np.str_, target_column=0)
    found.append([texts.data.tolist(), texts.target.tolist()])
    datasets.base.shrink_csv("b.csv", 2)
    found.append(Path("b_small.csv").read_text().split())
    for name, given in (
        ("circles", {"noise": 0.1, "n_samples": 7, "n_classes": 3}),
        ("spirals", {"n_samples": 9}),
        ("spirals", {"n_samples": 6, "mode": "bernoulli", "exp_scale": 0.2, "noise": 0.5}),
        ("spirals", {"n_samples": 6, "mode": "fermat", "n_loops": 1}),
    ):
        points = datasets.make_dataset(name, seed=3, **given)
        found.append([points.data.round(6).tolist(), points.target.tolist()])
    for call in (
        lambda: datasets.load_dataset("none"),
        lambda: datasets.make_dataset("none"),
        lambda: datasets.synthetic.spirals(mode="none"),
        lambda: datasets.base.retry(1, 2, factor=0.5),
    ):
        try:
            call()
        except ValueError as error:
            found.append(str(error))
    return found


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    folder, before = tempfile.mkdtemp(), str(Path.cwd())
    os.chdir(folder)
    try:
        for function in (vocabularies, saved, data_sets):
            found[function.__name__] = function(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return found
