"""Items of tf.Example messages: tf.contrib.slim.tfexample_decoder."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.composites.case import case
from stillflow.composites.functional import map_fn
from stillflow.composites.image_decoding import decode_image, is_jpeg
from stillflow.composites.parsing import FixedLenFeature, parse_single_example
from stillflow.composites.sparse import sparse_tensor_to_dense
from stillflow.contrib.slim.data_decoder import DataDecoder
from stillflow.graph import dtypes
from stillflow.names import public_module
from stillflow.ops import sparse_tensor
from stillflow.ops.control_flow.cond import cond

public_module("contrib.slim.tfexample_decoder", "contrib.slim.python.slim.data.tfexample_decoder")


class ItemHandler(abc.ABC):
    """Makes an item of the features that its keys name. `keys` is one, or a list."""

    def __init__(self, keys):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self):
        """The keys of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, a tensor, of {key: tensor}."""


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of {key: tensor}."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        """What the function returns."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, [n, 4], of the features of their four sides.

    Args:
      keys: the four keys, by default ymin, xmin, ymax and xmax.
      prefix: what stands before each of them.

    Raises ValueError for another number of keys.
    """

    def __init__(self, keys=None, prefix=""):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix = prefix
        self._full_keys = [prefix + key for key in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        """The boxes."""
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            sides.append(ops.expand_dims(side.values if sparse_tensor.is_sparse(side) else side, 0))
        return ops.transpose(ops.concat(sides, 0))


class Tensor(ItemHandler):
    """A dense tensor of a feature.

    Args:
      tensor_key: the key.
      shape_keys: the keys of its dimensions, one or a list.
      shape: its shape instead.
      default_value: stands where a sparse feature has nothing.

    Raises ValueError for both shapes.
    """

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors):
        """The tensor."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = [keys_to_tensors[key] for key in self._shape_keys]
            sizes = [sparse_tensor_to_dense(size) if sparse_tensor.is_sparse(size) else size for size in sizes]
            shape = ops.reshape(ops.stack(sizes), [-1])
        if sparse_tensor.is_sparse(tensor):
            if shape is not None:
                tensor = ops.sparse_reshape(tensor, shape)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else ops.reshape(tensor, shape)


class LookupTensor(Tensor):
    """A tensor of what a table has for the values of a feature; see Tensor."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        """What the table has."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of a handler, or of another where the first one's is empty.

    Raises ValueError for what is no ItemHandler.
    """

    def __init__(self, handler, backup):
        for kind, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{kind} handler is of type {type(given)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors):
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond(
            ops.equal(ops.reduce_prod(ops.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature of values and one of their positions in the last dimension.

    Args:
      indices_key, values_key: the keys; by default "indices" and "values".
      shape_key: the key of its shape.
      shape: its shape instead; by default that of the positions.
      densify: whether to make it dense.
      default_value: stands where it has nothing then.
    """

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors):
        """The sparse tensor, or the dense one."""
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape = self._shape or indices.dense_shape
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key]
            if sparse_tensor.is_sparse(shape):
                shape = sparse_tensor_to_dense(shape)
        rank = ops.shape(indices.indices)[1]
        ids = ops.cast(indices.values, dtypes.int64)
        kept = ops.slice(indices.indices, [0, 0], ops.stack([-1, rank - 1]))
        new_indices = ops.concat([kept, ops.reshape(ids, [-1, 1])], 1)
        tensor = sparse_tensor.SparseTensor(new_indices, values.values, shape)
        return sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """A decoded image, or several.

    Args:
      image_key, format_key: the keys of the image's bytes and of its format; by default "image/encoded" and
        "image/format". The bytes of a "raw" image are its pixels; other formats are told from the bytes.
      shape: its shape, if it is known.
      channels: how many channels it gets.
      dtype: its type.
      repeated: whether the feature has several images of one size.
      dct_method: how JPEG is decoded.
    """

    def __init__(
        self, image_key=None, format_key=None, shape=None, channels=3, dtype=dtypes.uint8, repeated=False,
        dct_method="",
    ):  # fmt: skip
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors):
        """The image, or images."""
        buffer, image_format = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn(lambda x: self._decode(x, image_format), buffer, dtype=self._dtype)
        return self._decode(buffer, image_format)

    def _decode(self, buffer, image_format):
        def decode_any():
            return ops.cast(decode_image(buffer, channels=self._channels), self._dtype)

        def decode_jpeg():
            decoded = ops.decode_jpeg(buffer, channels=self._channels, dct_method=self._dct_method)
            return ops.cast(decoded, self._dtype)

        def check_jpeg():
            return cond(is_jpeg(buffer), decode_jpeg, decode_any, name="cond_jpeg")

        def decode_raw():
            return ops.decode_raw(buffer, out_type=self._dtype)

        is_raw = ops.logical_or(ops.equal(image_format, "raw"), ops.equal(image_format, "RAW"))
        image = case([(is_raw, decode_raw)], default=check_jpeg, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else ops.reshape(image, self._shape)


class TFExampleDecoder(DataDecoder):
    """Decodes tf.Example messages.

    Args:
      keys_to_features: {key: how the feature is to be parsed, as a FixedLenFeature or VarLenFeature}.
      items_to_handlers: {item: its ItemHandler}.
    """

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self):
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        """A list of the tensors of items, by default of all, in a serialized message, a string tensor."""
        example = parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                example[key] = ops.reshape(example[key], feature.shape)
        found = []
        for item in items or self._items_to_handlers:
            handler = self._items_to_handlers[item]
            found.append(handler.tensors_to_item({key: example[key] for key in handler.keys}))
        return found
