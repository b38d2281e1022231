"""Points on circles and spirals: tf.contrib.learn.datasets.synthetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stillflow.contrib.learn.datasets.base import Dataset
from stillflow.names import public_module

public_module("contrib.learn.datasets.synthetic")


def circles(n_samples=100, noise=None, seed=None, factor=0.8, n_classes=2, *args, **kwargs):
    """Points on concentric circles, a Dataset.

    Args:
      n_samples: how many.
      noise: the deviation of noise; None for none.
      seed: of numpy's random numbers; None leaves them as they are.
      factor: how much smaller each circle is than the one before.
      n_classes: how many circles there are.
    """
    if seed is not None:
        np.random.seed(seed)
    count = n_samples // n_classes
    angles = np.linspace(0, 2 * np.pi, count)
    x, y, labels = [], [], []
    cosines, sines = np.cos(angles), np.sin(angles)
    for label in range(n_classes):
        x.append(cosines)
        y.append(sines)
        labels.append(label * np.ones(count, dtype=np.int32))
        cosines, sines = cosines * factor, sines * factor
    rest = n_samples % n_classes
    x.append(np.cos(np.random.rand(rest) * 2 * np.pi))
    y.append(np.sin(np.random.rand(rest) * 2 * np.pi))
    labels.append(np.zeros(rest, dtype=np.int32))
    return _shuffled(x, y, labels, noise)


def _shuffled(x, y, labels, noise):
    points = np.vstack((np.concatenate(x), np.concatenate(y))).T
    labels = np.concatenate(labels)
    order = np.random.permutation(range(len(labels)))
    if noise is not None:
        points = points + np.random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=labels[order])


# Radii of spirals by their angles.
_SPIRALS: dict[str, Callable] = {
    "archimedes": lambda theta: theta,
    "bernoulli": lambda theta, exp_scale=0.1: np.exp(exp_scale * theta),
    "fermat": np.sqrt,
}


def _spiral(mode, theta, offset, **kwargs):
    """Points on a spiral, each coordinate of which is at most 1."""
    radius = _SPIRALS[mode](theta, **kwargs)
    x, y = radius * np.cos(theta + offset), radius * np.sin(theta + offset)
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


def spirals(n_samples=100, noise=None, seed=None, mode="archimedes", n_loops=2, *args, **kwargs):
    """Points on two spirals, a Dataset.

    Args:
      n_samples, noise, seed: as circles has them.
      mode: "archimedes", "bernoulli" or "fermat".
      n_loops: how often they go round.
      kwargs: `exp_scale` of "bernoulli": how fast it grows.

    Raises:
      ValueError: for another mode.
    """
    if mode not in _SPIRALS:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)
    count = n_samples // 2
    theta = np.linspace(0, 2 * n_loops * np.pi, count)
    x, y, labels = [], [], []
    for label in range(2):
        points = _spiral(mode, theta, label * np.pi, **kwargs)
        x.append(points[0])
        y.append(points[1])
        labels.append(label * np.ones(count, dtype=np.int32))
    rest = n_samples % 2
    if rest:
        points = _spiral(mode, np.random.rand(rest) * 2 * np.pi, 0.0, **kwargs)
        x.append(points[0])
        y.append(points[1])
        labels.append(np.zeros(rest, dtype=np.int32))
    return _shuffled(x, y, labels, noise)
