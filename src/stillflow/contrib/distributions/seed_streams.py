"""Streams of seeds that are made of one."""

from __future__ import annotations

import hashlib

from stillflow.names import public


@public("contrib.distributions.SeedStream")
class SeedStream:
    """Seeds made of one: each call gives another.

    Args:
      seed: an integer, None (then all seeds are), or a SeedStream whose seed is taken.
      salt: a string, which makes streams of one seed different.
    """

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self):
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt)).encode()
        return int(hashlib.sha512(text).hexdigest(), 16)

    @property
    def original_seed(self):
        """The seed that the others are made of."""
        return self._seed

    @property
    def salt(self):
        """The string."""
        return self._salt
