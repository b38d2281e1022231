"""What a model is given, as lists of arrays that fit it."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Mapping

import numpy as np

from stillflow import ops
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.type_spec import type_spec_from_value
from stillflow.keras.engine.endpoints import check_keys
from stillflow.keras.losses import classes, functions
from stillflow.keras.losses import lookup as losses
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue
from stillflow.platform import logging
from stillflow.ragged.composites import get_shape, is_composite, take_rows
from stillflow.variables.variable import Variable


def is_tensor(x):
    return isinstance(x, (Tensor, Variable, SparseTensor))


def is_symbolic(x):
    """Whether it is a tensor of a graph."""
    return isinstance(x, (Tensor, SparseTensor)) and not isinstance(x, EagerTensor)


def has_tensors(data):
    """Whether there are tensors in a list, a dictionary, or alone."""
    if isinstance(data, (list, tuple)):
        return any(is_tensor(each) for each in data)
    if isinstance(data, dict):
        return any(is_tensor(each) for each in data.values())
    return is_tensor(data)


# ---- Inputs and targets -------------------------------------------------------------------------------------


def _values(x):
    return x.values if type(x).__name__ == "DataFrame" else x


def _with_columns(x, shape):
    """x with a second dimension, if it has one and more are expected. Raises ValueError for an integer."""
    if x is None or is_composite(x):
        return x
    if isinstance(x, int):
        raise ValueError(f"Expected an array data type but received an integer: {x}")
    if x.shape is not None and len(x.shape) == 1 and (shape is None or len(shape) != 1):
        return ops.expand_dims(x, axis=1) if is_tensor(x) else np.expand_dims(x, 1)
    return x


def standardize(data, names, shapes=None, checks_batch=True, prefix=""):
    """A list of arrays, one for each name.

    Args:
      data: an array, a list, a dictionary by name, DataFrames, or tensors; None for Nones.
      names: the names.
      shapes: the shapes that are expected, None where any will do.
      checks_batch: whether the first size is checked too.
      prefix: what the arrays are, for messages.

    Raises:
      ValueError, TypeError: for data that do not fit.
    """
    if not names:
        if data is not None and not isinstance(data, dict) and _length(data):
            raise ValueError(f"Error when checking model {prefix}: expected no data, but got:", data)
        return []
    if data is None:
        return [None] * len(names)
    data = _listed(data, names)
    data = [
        _with_columns(each, shapes[i] if shapes is not None and i < len(shapes) else None)
        for i, each in enumerate(data)
    ]
    if len(data) != len(names):
        data = _of_other_length(data, names, prefix)
    for each, name, shape in zip(data, names, shapes or [None] * len(names), strict=True):
        if shape is not None:
            _check_shape(each, name, shape, checks_batch, prefix)
    return data


def _length(data):
    try:
        return len(data)
    except TypeError:
        return 0


def _listed(data, names):
    if isinstance(data, dict):
        try:
            return [_values(data[name]) for name in names]
        except KeyError as error:
            raise ValueError(f'No data provided for "{error.args[0]}". Need data for each key in: {names}') from None
    if isinstance(data, (list, tuple)):
        if data and isinstance(data[0], (list, tuple)):
            return [np.asarray(each) for each in data]
        if data and len(names) == 1 and isinstance(data[0], (float, int)):
            return [np.asarray(data)]
        return [_values(each) for each in data]
    return [_values(data)]


def _of_other_length(data, names, prefix):
    opening = f"Error when checking model {prefix}: "
    if data and hasattr(data[0], "shape"):
        raise ValueError(
            f"{opening}the list of Numpy arrays that you are passing to your model is not the size the model "
            "expected. "
            f"Expected to see {len(names)} array(s), but instead got the following list of {len(data)} arrays: "
            f"{str(data)[:200]}..."
        )
    if len(names) > 1:
        raise ValueError(
            f"{opening}you are passing a list as input to your model, but the model expects a list of {len(names)} "
            f"Numpy arrays instead. The list you passed was: {str(data)[:200]}"
        )
    if len(data) == 1 and not hasattr(data[0], "shape"):
        raise TypeError(
            f"{opening}data should be a Numpy array, or list/dict of Numpy arrays. Found: {str(data)[:200]}..."
        )
    return [np.asarray(data)]


def _check_shape(x, name, shape, checks_batch, prefix):
    found = get_shape(x)
    if isinstance(found, TensorShape):
        if found.ndims is None:
            return
        found = found.as_list()
    found = tuple(found)
    opening = f"Error when checking {prefix}: expected {name} to have"
    if len(found) != len(shape):
        raise ValueError(f"{opening} {len(shape)} dimensions, but got array with shape {found}")
    if not checks_batch:
        found, shape = found[1:], tuple(shape[1:])
    if any(None not in pair and pair[0] != pair[1] for pair in zip(found, shape, strict=True)):
        raise ValueError(f"{opening} shape {shape} but got array with shape {found}")


def check_kinds(inputs, expected):
    """Raises ValueError for a sparse or ragged tensor where the model has another kind, and the other way round."""
    for each, tensor in zip(inputs, nest.flatten(expected), strict=False):
        if (is_composite(each) or is_composite(tensor)) and not hasattr(each, "tocoo"):
            nest.assert_same_structure(type_spec_from_value(each), tensor, expand_composites=True)


def check_lengths(inputs, targets, weights=None):
    """Raises ValueError unless all arrays have as many samples."""

    def lengths(arrays):
        return {each.shape[0] for each in arrays or () if each is not None and not is_tensor(each)}

    of_x, of_y, of_weights = lengths(inputs), lengths(targets), lengths(weights)
    for found, arrays, text in (
        (of_x, inputs, "All input arrays (x)"), (of_y, targets, "All target arrays (y)"),
        (of_weights, weights, "All sample_weight arrays"),
    ):  # fmt: skip
        if len(found) > 1:
            shapes = [each.shape for each in arrays]
            raise ValueError(f"{text} should have the same number of samples. Got array shapes: {shapes}")
    if of_x and of_y and of_x != of_y:
        raise ValueError(
            f"Input arrays should have the same number of samples as target arrays. Found {next(iter(of_x))} input "
            f"samples and {next(iter(of_y))} target samples."
        )
    if of_y and of_weights and of_y != of_weights:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Got "
            f"{next(iter(of_y))} input samples and {next(iter(of_weights))} target samples."
        )


_OF_SAME_SHAPE = (
    (functions.mean_squared_error, classes.MeanSquaredError),
    (functions.binary_crossentropy, classes.BinaryCrossentropy),
    (functions.categorical_crossentropy, classes.CategoricalCrossentropy),
)


def check_targets(targets, loss_fns, output_shapes):
    """Raises ValueError for targets that a loss cannot be computed of."""
    for target, loss, shape in zip(targets, loss_fns, output_shapes, strict=True):
        if target is None or loss is None or is_tensor(target):
            continue
        if losses.is_categorical_crossentropy(loss) and target.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {target.shape} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be binary matrices (1s "
                "and "
                "0s) of shape (samples, classes). If your targets are integer classes, you can convert them to the "
                "expected format via:\n```\nfrom keras.utils import to_categorical\n"
                "y_binary = to_categorical(y_int)\n```\n\nAlternatively, you can use the loss function "
                "`sparse_categorical_crossentropy` instead, which does expect integer targets."
            )
        if shape is None or not any(losses.computes(loss, function, kind) for function, kind in _OF_SAME_SHAPE):
            continue
        if any(size is not None and size != found for found, size in zip(target.shape[1:], shape[1:], strict=False)):
            raise ValueError(
                f"A target array with shape {target.shape} was passed for an output of shape {shape} while using as "
                f"loss `{loss.name or loss.fn.__name__}`. This loss expects targets to have the same shape as the "
                "output."
            )


def with_axis_of_classes(targets, loss_fns, output_shapes):
    """The targets, with an axis of size 1 behind labels that lack it, as those of one label for each step do."""
    found = []
    for target, loss, shape in zip(targets, loss_fns, output_shapes, strict=True):
        lacks_axis = (
            isinstance(target, (np.ndarray, Tensor))
            and shape is not None
            and len(shape) - 1 == (target.ndim if isinstance(target, np.ndarray) else target.shape.ndims)
            and losses.computes(
                loss, functions.sparse_categorical_crossentropy, classes.SparseCategoricalCrossentropy
            )
        )
        expand = np.expand_dims if isinstance(target, np.ndarray) else ops.expand_dims
        found.append(expand(target, -1) if lacks_axis else target)
    return found


# ---- Weights of samples -------------------------------------------------------------------------------------


def weights_of_outputs(weights, names, kind):
    """Weights for each output, of an argument of `fit`. Raises ValueError or TypeError if they do not fit."""
    if weights is None or (isinstance(weights, (list, tuple)) and not weights):
        return [None] * len(names)
    if len(names) == 1:
        if isinstance(weights, (list, tuple)) and len(weights) == 1:
            return weights
        if isinstance(weights, dict) and names[0] in weights:
            return [weights[names[0]]]
        return [weights]
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(names):
            raise ValueError(
                f"Provided `{kind}` was a list of {len(weights)} elements, but the model has {len(names)} outputs. "
                "You "
                f"should provide one `{kind}`array per model output."
            )
        return weights
    if isinstance(weights, Mapping):
        check_keys(kind, weights, names)
        return [weights.get(name) for name in names]
    raise TypeError(
        f"The model has multiple outputs, so `{kind}` should be either a list or a dict. Provided `{kind}` type not "
        f"understood: {weights}"
    )


@public("python.keras.engine.training_utils.standardize_weights")
def weights_of_samples(y, sample_weight=None, class_weight=None, sample_weight_mode=None):
    """The weights of one output's samples, or None.

    Args:
      y: the true values.
      sample_weight: an array, or None.
      class_weight: {class: weight}, or None.
      sample_weight_mode: "temporal", "samplewise" or None.

    Raises:
      ValueError: for weights that do not fit.
    """
    if isinstance(sample_weight, tuple):
        sample_weight = sample_weight[0]
    _check_weights(y, sample_weight, sample_weight_mode)
    of_classes = _of_classes(y, class_weight) if isinstance(class_weight, dict) else None
    if of_classes is not None and sample_weight is not None:
        return of_classes * sample_weight
    return of_classes if sample_weight is None else sample_weight


def _check_weights(target, weights, mode):
    shape = None if weights is None else weights.shape
    if mode is not None and mode != "samplewise":
        if mode != "temporal":
            raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {mode}')
        if len(target.shape) < 3:
            raise ValueError(
                f"Found a sample_weight array for an input with shape {target.shape}. Timestep-wise sample weighting "
                '(use of sample_weight_mode="temporal") is restricted to outputs that are at least 3D, i.e. that '
                "have "
                "a time dimension."
            )
        if shape is not None and len(shape) != 2:
            raise ValueError(
                f"Found a sample_weight array with shape {shape}. In order to use timestep-wise sample weighting, "
                "you "
                "should pass a 2D sample_weight array."
            )
    elif shape is not None and len(shape) != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {shape}. In order to use timestep-wise sample weights, you "
            "should "
            'specify sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise weights, make '
            "sure your sample_weight array is 1D."
        )
    if shape is not None:
        if len(shape) > len(target.shape):
            raise ValueError(
                f"Found a sample_weight with shape{shape}.Expected sample_weight with rank less than or equal to "
                f"{len(target.shape)}"
            )
        if not is_tensor(weights) and target.shape[: weights.ndim] != shape:
            raise ValueError(
                f"Found a sample_weight array with shape {shape} for an input with shape {target.shape}. "
                "sample_weight "
                "cannot be broadcast."
            )


def _of_classes(target, class_weight):
    if len(target.shape) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    found = target
    if len(target.shape) == 2:
        found = np.argmax(target, axis=1) if target.shape[1] > 1 else np.reshape(target, target.shape[0])
    weights = np.asarray([class_weight[each] for each in found if each in class_weight])
    if len(weights) != len(found):
        missing = set(found) - set(class_weight)
        raise ValueError(
            f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data but not "
            "in "
            "`class_weight`."
        )
    return weights


# ---- Batches ------------------------------------------------------------------------------------------------


def slices(arrays, start=None, stop=None):
    """Parts of arrays, None for None: from `start` to `stop`, or the rows of a list of numbers."""
    if arrays is None:
        return [None]
    if isinstance(start, (list, np.ndarray)):
        rows = start.tolist() if isinstance(start, np.ndarray) and not _take_arrays(arrays) else start
    else:
        rows = slice(start, stop)
    return [None if each is None else _rows(each, rows) for each in arrays]


def _rows(array, rows):
    if not is_composite(array):
        return array[rows]
    return take_rows(array, np.arange(_row_count(array))[rows] if isinstance(rows, slice) else rows)


def _take_arrays(arrays):
    """Whether all can be indexed with an array; those of HDF5 files want a list."""
    return all(each is None or isinstance(each, np.ndarray) or is_composite(each) for each in arrays)


def batches(size, batch_size):
    """[(first, after the last)] of the batches of so many samples."""
    return [(first, min(first + batch_size, size)) for first in range(0, size, batch_size)]


def shuffled_in_batches(indices, batch_size):
    """Numbers in another order, those of a batch together; the last batch, if it is smaller, stays the last."""
    count = len(indices) // batch_size
    whole = indices[: count * batch_size].reshape((count, batch_size))
    np.random.shuffle(whole)
    return np.append(whole.flatten(), indices[count * batch_size :])


def split(x, y, sample_weights, validation_split):
    """(x, y, weights, x, y, weights): the first part for training, the last for validation."""
    if has_tensors(x) and not any(isinstance(each, EagerTensor) for each in x):
        raise ValueError("If your data is in the form of symbolic tensors, you cannot use `validation_split`.")
    length = x[0].shape[0] if hasattr(x[0], "shape") else len(x[0])
    at = int(length * (1.0 - validation_split))
    weights = (
        (slices(sample_weights, 0, at), slices(sample_weights, at)) if sample_weights else (sample_weights, None)
    )
    return slices(x, 0, at), slices(y, 0, at), weights[0], slices(x, at), slices(y, at), weights[1]


def unpack_validation(data):
    """(x, y, weights) of the argument `validation_data`. Raises ValueError for anything else."""
    if hasattr(data, "make_one_shot_iterator") or not isinstance(data, (tuple, list)):
        return data, None, None
    if len(data) == 2:
        return (*data, None)
    if len(data) == 3:
        return tuple(data)
    raise ValueError(
        "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
        "(x_val, "
        "y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a dataset iterator. "
        f"However we received `validation_data={data}`"
    )


def is_empty(data):
    """Whether an argument for data is there, but empty."""
    return isinstance(data, (tuple, list, dict)) and not data


def is_validated(validation_freq, epoch):
    """Whether there is a validation after an epoch. Raises ValueError for what says nothing about that."""
    if isinstance(validation_freq, int):
        if validation_freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % validation_freq == 0
    if not isinstance(validation_freq, Container):
        raise ValueError(
            "`validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, tuple, etc.)"
        )
    return epoch + 1 in validation_freq


def counts_steps(data, steps, steps_name):
    """Whether the number of steps says how much there is: of tensors and datasets. Raises ValueError without one."""
    if data is None or (has_tensors(data) and not _has_values(data)) or (isinstance(data, list) and not data):
        if steps is None:
            raise ValueError(
                f"When using data tensors as input to a model, you should specify the `{steps_name}` argument."
            )
        return True
    if steps is not None and isinstance(data, (np.ndarray, list, tuple, dict)):
        logging.warning(
            "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. Please use "
            "`batch_size` instead."
        )
    return False


def _has_values(data):
    listed = data.values() if isinstance(data, dict) else data if isinstance(data, (list, tuple)) else [data]
    return not any(is_symbolic(each) or isinstance(each, Variable) for each in listed)


def as_numpy(arrays):
    """Tensors of eager execution in a list, as arrays."""
    if arrays is None:
        return None
    return [_as_numpy(each) for each in arrays]


def _as_numpy(tensor):
    parts = nest.flatten(tensor, expand_composites=True) if isinstance(tensor, CompositeTensor) else [tensor]
    if not all(isinstance(part, EagerTensor) for part in parts):
        return tensor
    return nest.pack_sequence_as(tensor, [part.numpy() for part in parts], expand_composites=True)


def as_dense(value, expected):
    """A scipy matrix that is sparse as what the model expects: an array, or a value of a SparseTensor."""
    if not hasattr(value, "tocoo"):
        return value
    if not isinstance(expected, SparseTensor):
        return value.toarray()
    matrix = value.tocoo()
    indices = np.stack([matrix.row, matrix.col], axis=1)
    return SparseTensorValue(indices, matrix.data, np.array(matrix.shape))


def sample_count(arrays):
    """How many samples there are, or None."""
    with contextlib.suppress(AttributeError, IndexError, TypeError):
        return _row_count(arrays[0])
    return None


def _row_count(array):
    return int(get_shape(array)[0])
