"""What a model function may take and has to return; how model and logit functions are called."""

from __future__ import annotations

from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.training_loop.messages import log

_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


@public("python.estimator.estimator._verify_model_fn_args")
def check_model_fn(model_fn, params):
    """Raises ValueError if a model function takes something else than it is given."""
    names = set(fn_args(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    if params is None and "params" in names:
        log().warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn
        )
    others = list(names - _ARGUMENTS)
    if others:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {others}")


def wanted(function, **offered):
    """Those of the arguments offered that a function takes."""
    names = fn_args(function)
    return {name: value for name, value in offered.items() if name in names}


@public("estimator.experimental.call_logit_fn", "contrib.estimator.call_logit_fn")
def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls a function that makes logits with those of the arguments that it takes besides `features`.

    Args:
      logit_fn: the function.
      features: a tensor, or {name: tensor}.
      mode: one of tf.estimator.ModeKeys.
      params: a dict of hyperparameters.
      config: a RunConfig.

    Returns:
      Its result: a tensor or {name: tensor}.

    Raises ValueError for another result.
    """
    found = logit_fn(features=features, **wanted(logit_fn, mode=mode, params=params, config=config))
    is_dict = isinstance(found, dict) and all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in found.items()
    )
    if not is_dict and not isinstance(found, Tensor):
        raise ValueError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {found}"
        )
    return found
