"""tf.contrib.learn.SKCompat: estimators with the methods of scikit-learn's."""

from __future__ import annotations

from stillflow.names import public


@public("contrib.learn.SKCompat")
class SKCompat:
    """An estimator with the methods that scikit-learn's have: fit, score and predict, of arrays."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        """Trains; see Estimator.fit. Returns itself."""
        self._estimator.fit(x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps)
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """The metrics of an evaluation; see Estimator.evaluate."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x, batch_size=128, outputs=None):
        """The predictions of all rows, an array or a dict of them."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)
