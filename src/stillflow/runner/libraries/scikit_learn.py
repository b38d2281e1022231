"""scikit-learn 0.20: dense results of OneHotEncoder."""

from __future__ import annotations

import functools


def restore_preprocessing(preprocessing):
    """OneHotEncoder(sparse=False)."""
    encoder = preprocessing.OneHotEncoder
    init = encoder.__init__

    @functools.wraps(init)
    def init_dense(self, *, sparse=None, **kwargs):
        if sparse is not None:
            kwargs["sparse_output"] = sparse
        init(self, **kwargs)

    encoder.__init__ = init_dense
