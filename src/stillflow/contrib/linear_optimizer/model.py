"""SdcaModel of tf.contrib: it trains with an L2 regularization of at least 1, whatever is asked for."""

from __future__ import annotations

from stillflow.canned.linear_optimizer import model
from stillflow.names import public


@public("contrib.linear_optimizer.SdcaModel")
class SdcaModel(model.SdcaModel):
    """A linear model that is trained by stochastic dual coordinate ascent.

    Its L2 regularization is at least 1 when it is trained, and what was asked for in `regularized_loss`.

    Args: as tf.estimator's model has them; regularizations may be 0.

    Raises ValueError for regularizations below 0, and other arguments that do not fit.
    """

    def _checked_l2(self, options):
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            if options[name] < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        return max(options["symmetric_l2_regularization"], 1.0)
