"""A picture of the most frequent words: their vectors in two dimensions."""

from __future__ import annotations

import numpy as np


def embed(vectors, iterations=500, perplexity=20.0):
    """float64[n, 2] in which neighbours of float32[n, dim] stay neighbours: exact t-SNE from a PCA start.

    (van der Maaten and Hinton, "Visualizing data using t-SNE", 2008.) The same for the same vectors.
    """
    x = np.asarray(vectors, np.float64)
    x = x - x.mean(axis=0)
    count = len(x)
    joint = _joint_probabilities(x, min(perplexity, (count - 1) / 3))
    _, _, axes = np.linalg.svd(x, full_matrices=False)
    # The sign of a singular vector is arbitrary: fix it, so that every machine draws the same way up.
    axes = axes[:2] * np.sign(axes[:2, np.abs(axes[:2]).argmax(axis=1)].diagonal())[:, None]
    y = x @ axes.T
    y *= 1e-2 / max(y.std(), 1e-12)
    step = np.zeros_like(y)
    for iteration in range(iterations):
        exaggeration, momentum = (4.0, 0.5) if iteration < 100 else (1.0, 0.8)
        affinity = 1 / (1 + _square_distances(y))
        np.fill_diagonal(affinity, 0)
        pull = (exaggeration * joint - affinity / affinity.sum()) * affinity
        gradient = 4 * (pull.sum(axis=1)[:, None] * y - pull @ y)
        step = momentum * step - count / 4 * gradient
        y = y + step
        y -= y.mean(axis=0)
    return y


def _square_distances(x):
    squares = (x * x).sum(axis=1)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * x @ x.T, 0)


def _joint_probabilities(x, perplexity):
    """The symmetric neighbour probabilities; each point's bandwidth is found by bisection."""
    distances = _square_distances(x)
    np.fill_diagonal(distances, np.inf)
    distances -= distances.min(axis=1, keepdims=True)
    low, high = np.full(len(x), 0.0), np.full(len(x), np.inf)
    precision = np.full(len(x), 1 / np.median(distances[np.isfinite(distances)]))
    for _ in range(60):
        weights = np.exp(-distances * precision[:, None])
        total = weights.sum(axis=1)
        finite = np.where(np.isfinite(distances), distances, 0)
        entropy = np.log(total) + precision * (weights * finite).sum(axis=1) / total
        is_wide = entropy > np.log(perplexity)
        low, high = np.where(is_wide, precision, low), np.where(is_wide, high, precision)
        precision = np.where(np.isinf(high), low * 2, (low + np.minimum(high, 1e300)) / 2)
    conditional = weights / total[:, None]
    return np.maximum((conditional + conditional.T) / (2 * len(x)), 1e-12)


def draw(path, words, vectors):
    """Writes a PNG with each word at its place. Raises ImportError if matplotlib is not installed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = embed(vectors)
    figure = Figure(figsize=(14, 14), layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.scatter(places[:, 0], places[:, 1], s=6, color="tab:blue")
    for word, (x, y) in zip(words, places, strict=True):
        axes.annotate(word, (x, y), xytext=(3, 2), textcoords="offset points", fontsize=8)
    axes.set_axis_off()
    figure.savefig(path, dpi=110)
