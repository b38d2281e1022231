"""Pixels as networks were trained on, and the names of what they see."""

from __future__ import annotations

import json

import numpy as np

from stillflow.keras.backend.neural import bias_add
from stillflow.keras.backend.values import cast, constant, dtype, ndim
from stillflow.keras.cached_files import get_file
from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.names import public

_MEANS = {"torch": [0.485, 0.456, 0.406], "caffe": [103.939, 116.779, 123.68]}
_DEVIATIONS = [0.229, 0.224, 0.225]
_class_index: dict = {}


def _is_first(data_format):
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format {data_format}")
    return data_format == "channels_first"


def _channels_reversed(x, is_first, rank):
    if not is_first:
        return x[..., ::-1]
    return x[::-1, ...] if rank == 3 else x[:, ::-1, ...]


def _of_array(x, is_first, mode):
    if not issubclass(x.dtype.type, np.floating):
        x = x.astype(floatx(), copy=False)
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    shape = (3, 1, 1) if is_first else (3,)
    if mode == "torch":
        x /= 255.0
    else:
        x = _channels_reversed(x, is_first, x.ndim)
    x -= np.array(_MEANS["torch" if mode == "torch" else "caffe"], x.dtype).reshape(shape)
    if mode == "torch":
        x /= np.array(_DEVIATIONS, x.dtype).reshape(shape)
    return x


def _of_tensor(x, is_first, mode):
    if mode == "tf":
        x /= 127.5
        return x - 1.0
    if mode == "torch":
        x /= 255.0
    else:
        x = _channels_reversed(x, is_first, ndim(x))
    means = constant(-np.array(_MEANS["torch" if mode == "torch" else "caffe"]))
    if dtype(x) != dtype(means):
        means = cast(means, dtype(x))
    x = bias_add(x, means, data_format="channels_first" if is_first else "channels_last")
    return x / _DEVIATIONS if mode == "torch" else x


@public(
    "keras.applications.imagenet_utils.preprocess_input", "keras.applications.vgg16.preprocess_input",
    "keras.applications.vgg19.preprocess_input",
)  # fmt: skip
def preprocess_input(x, data_format=None, mode="caffe"):
    """Pictures of numbers from 0 to 255, scaled as a network was trained on. Changes arrays of floating numbers.

    Args:
      x: an array or a tensor, [rows, columns, 3] or [batch, rows, columns, 3].
      data_format: "channels_last" or "channels_first".
      mode: "caffe" (blue first, means 0), "tf" (from -1 to 1) or "torch" (means 0, deviations 1).

    Raises:
      ValueError: for another format.
    """
    is_first = _is_first(data_format)
    return _of_array(x, is_first, mode) if isinstance(x, np.ndarray) else _of_tensor(x, is_first, mode)


@public("keras.applications.resnet.preprocess_input", "keras.applications.resnet50.preprocess_input")
def preprocess_for_resnet(x, data_format=None):
    """Pictures of numbers from 0 to 255 with blue first and means 0; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, mode="caffe")


@public(
    "keras.applications.inception_resnet_v2.preprocess_input", "keras.applications.inception_v3.preprocess_input",
    "keras.applications.mobilenet.preprocess_input", "keras.applications.mobilenet_v2.preprocess_input",
    "keras.applications.nasnet.preprocess_input", "keras.applications.resnet_v2.preprocess_input",
    "keras.applications.xception.preprocess_input",
)  # fmt: skip
def preprocess_from_minus_one(x, data_format=None):
    """Pictures of numbers from 0 to 255, scaled to numbers from -1 to 1; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, mode="tf")


@public("keras.applications.densenet.preprocess_input")
def preprocess_for_densenet(x, data_format=None):
    """Pictures of numbers from 0 to 255, of means 0 and deviations 1; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, mode="torch")


@public(
    "keras.applications.densenet.decode_predictions", "keras.applications.imagenet_utils.decode_predictions",
    "keras.applications.inception_resnet_v2.decode_predictions", "keras.applications.inception_v3.decode_predictions",
    "keras.applications.mobilenet.decode_predictions", "keras.applications.mobilenet_v2.decode_predictions",
    "keras.applications.nasnet.decode_predictions", "keras.applications.resnet.decode_predictions",
    "keras.applications.resnet50.decode_predictions", "keras.applications.resnet_v2.decode_predictions",
    "keras.applications.vgg16.decode_predictions", "keras.applications.vgg19.decode_predictions",
    "keras.applications.xception.decode_predictions",
)  # fmt: skip
def decode_predictions(preds, top=5):
    """For each row of 1,000 probabilities, (WordNet's number, name, probability) of the greatest ones.

    Args:
      preds: an array [samples, 1000].
      top: how many.

    Raises:
      ValueError: for another shape.
    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Found "
            f"array with shape: {preds.shape}"
        )
    if not _class_index:
        path = get_file(
            "imagenet_class_index.json",
            "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json",
            cache_subdir="models", file_hash="c2c37ea517e94d9795004a39431a14cb",
        )  # fmt: skip
        with open(path) as file:
            _class_index.update(json.load(file))
    found = []
    for row in preds:
        greatest = row.argsort()[-top:][::-1]
        found.append([(*_class_index[str(i)], row[i]) for i in greatest])
        found[-1].sort(key=lambda each: each[2], reverse=True)
    return found
