"""Estimators and optimizers made of others: with features among the predictions, with clipped gradients."""

from __future__ import annotations

from stillflow.composites.clip import clip_by_global_norm
from stillflow.composites.sparse import sparse_tensor_to_dense
from stillflow.estimator.estimator import Estimator
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.training.optimizer import Optimizer


@public("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer like another one, that clips all gradients together by their norm before it applies them."""
    return _ClippedByNorm(optimizer, clip_norm)


class _ClippedByNorm(Optimizer):
    def __init__(self, optimizer, clip_norm):
        super().__init__(use_locking=False, name="ClipByNorm" + optimizer.get_name())
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        gradients, variables = zip(*grads_and_vars, strict=True)
        gradients = clip_by_global_norm(gradients, self._clip_norm)[0]
        return self._optimizer.apply_gradients(list(zip(gradients, variables, strict=True)), global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)


# ---- Features among the predictions -------------------------------------------------------------------------------


@public("contrib.estimator.forward_features")
def forward_features(estimator, keys=None, sparse_default_values=None):
    """An Estimator like another one, whose predictions have features, too.

    Args:
      estimator: the Estimator, whose predictions are a dict.
      keys: a key, or those of the features to forward; all by default.
      sparse_default_values: {key: the value of what a SparseTensor has no element for}.

    Raises:
      TypeError: for keys that are no strings.
      ValueError: where it runs, for keys that are no features or are predictions already, and for sparse features
        without a default value.
    """
    keys = _checked_keys(keys)

    def new_model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if predictions is None:
            return spec
        wanted = features.keys() if keys is None else keys
        _check_forwarded(wanted, features, predictions)
        for key in wanted:
            predictions[key] = _dense(key, features[key], sparse_default_values or {})
        spec = spec._replace(predictions=predictions)
        for signature in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(signature)
            if isinstance(output, PredictOutput):
                output.outputs.update({key: predictions[key] for key in wanted})
        return spec

    return Estimator(model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _checked_keys(keys):
    if keys is None:
        return None
    if isinstance(keys, str):
        return [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                f"All items in the given keys list should be a string. There exist an item with type: {type(key)}"
            )
    return keys


def _check_forwarded(keys, features, predictions):
    if not isinstance(predictions, dict):
        raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
    for key in keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features dict. features dict has following '
                f"keys: {features.keys()}. Please check arguments of forward_features."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing prediction keys: "
                f"{predictions.keys()}. Please check arguments of forward_features."
            )


def _dense(key, feature, default_values):
    feature = convert_to_tensor_or_sparse_tensor(feature)
    if key in default_values:
        if not isinstance(feature, SparseTensor):
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        feature = sparse_tensor_to_dense(feature, default_value=default_values[key])
    if not isinstance(feature, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted "
            f"features, oradd key to argument `sparse_default_values`.Type of features[{key}] is {type(feature)}."
        )
    return feature
