"""Models of Keras as scikit-learn has its own: with `fit`, `predict` and `score`."""

from __future__ import annotations

import copy
import inspect
import types
from typing import Any

import numpy as np

from stillflow.keras.arrays import to_categorical
from stillflow.keras.engine.sequential import Sequential
from stillflow.names import public


def _takes(function, name):
    return name in inspect.signature(function).parameters


@public("python.keras.wrappers.scikit_learn.BaseWrapper")
class BaseWrapper:
    """A model that a function makes when it is fitted.

    Args:
      build_fn: a function, or an object that can be called, that returns a compiled model; None for a subclass that
        can be called itself.
      sk_params: arguments of that function, and of the model's `fit`, `predict` and `evaluate`.

    Raises:
      ValueError: for an argument that none of them takes.
    """

    def __init__(self, build_fn=None, **sk_params):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _function(self):
        """What makes the model, as a function whose arguments can be seen."""
        made_by: Any = self if self.build_fn is None else self.build_fn
        return made_by if isinstance(made_by, (types.FunctionType, types.MethodType)) else made_by.__call__

    def check_params(self, params):
        """Raises ValueError for an argument that no function takes."""
        functions = (
            Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate, self._function()
        )  # fmt: skip
        for name in params:
            if name != "nb_epoch" and not any(_takes(function, name) for function in functions):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params):
        """{name: value} of the arguments, and `build_fn`."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params):
        """Sets arguments, and returns itself."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def fit(self, x, y, **kwargs):
        """Makes a model and fits it; returns the History. `kwargs` are those of the model's `fit`."""
        function = self._function()
        self.model = function(**self.filter_sk_params(function))
        if _is_of_categories(self.model.loss) and y.ndim != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **copy.deepcopy(self.filter_sk_params(Sequential.fit, kwargs)))

    def filter_sk_params(self, fn, override=None):
        """{name: value} of the arguments that a function takes, and of further ones."""
        return {**{name: value for name, value in self.sk_params.items() if _takes(fn, name)}, **(override or {})}


def _is_of_categories(loss):
    name = getattr(loss, "__name__", type(loss).__name__ if hasattr(loss, "reduction") else loss)
    return name in ("categorical_crossentropy", "CategoricalCrossentropy")


@public("keras.wrappers.scikit_learn.KerasClassifier")
class KerasClassifier(BaseWrapper):
    """A classifier; `classes_` are the labels that it was fitted with."""

    def fit(self, x, y, **kwargs):
        """Makes a model and fits it to labels, (samples) or one-hot. Raises ValueError for others."""
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError("Invalid shape for y: " + str(y.shape))
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x, **kwargs):
        """The labels of samples."""
        return self.classes_[
            self.model.predict_classes(x, **self.filter_sk_params(Sequential.predict_classes, kwargs))
        ]

    def predict_proba(self, x, **kwargs):
        """The probabilities of all labels, (samples, labels)."""
        found = self.model.predict_proba(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x, y, **kwargs):
        """The accuracy. Raises ValueError if the model was not compiled with it."""
        y = np.searchsorted(self.classes_, y)
        if _is_of_categories(self.model.loss) and y.ndim != 2:
            y = to_categorical(y)
        results = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        results = results if isinstance(results, list) else [results]
        for name, result in zip(self.model.metrics_names, results, strict=True):
            if name in ("accuracy", "acc"):
                return result
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


@public("keras.wrappers.scikit_learn.KerasRegressor")
class KerasRegressor(BaseWrapper):
    """A model of numbers."""

    def predict(self, x, **kwargs):
        """The numbers of samples."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x, y, **kwargs):
        """The negative loss."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -loss[0] if isinstance(loss, list) else -loss
