"""tf.data.Iterator: an iterator over a data set, advanced by a node of the graph."""

from __future__ import annotations

import contextlib
import warnings

from stillflow import ops
from stillflow.datasets import graph_loops, nest, structure
from stillflow.datasets.node import check_graph
from stillflow.datasets.rewriting import apply_options
from stillflow.datasets.saved_position import IteratorPosition
from stillflow.datasets.structured import Structured
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.tracking.base import Trackable

GLOBAL_ITERATORS = "iterators"
_MANY_CALLS = 32


@public("data.Iterator")
class Iterator(Structured, Trackable):
    """The state of going through a data set. It belongs to a session, and its position to that session's checkpoints.

    Args:
      iterator_resource: the handle.
      initializer: the operation that starts it, or None.
      output_types, output_shapes, output_classes: what elements are.

    Raises ValueError if one of the three is None.
    """

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and `output_classes` must "
                "be specified."
            )
        self._element_spec = structure.convert_legacy_structure(output_types, output_shapes, output_classes)
        self._string_handle = ops.iterator_to_string_handle(iterator_resource)
        self._get_next_call_count = 0
        get_default_graph().add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for all data sets of a form: what `make_initializer(dataset)` returns starts it at one.

        Args:
          output_types: the types of the components.
          output_shapes: their shapes; unknown if None.
          shared_name: if not empty, iterators of that name in one session are one iterator.
          output_classes: their classes; tf.Tensor if None.

        Raises TypeError or ValueError if the structures are of different forms.
        """
        types, shapes, classes, spec = _structure(output_types, output_shapes, output_classes)
        with _on_cpu():
            resource = ops.iterator_v2(
                container="",
                shared_name=shared_name or "",
                output_types=structure.get_flat_tensor_types(spec),
                output_shapes=structure.get_flat_tensor_shapes(spec),
            )
        return Iterator(resource, None, types, shapes, classes)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator that a string stands for, which may be fed: what `string_handle()` of another evaluates to.

        Args:
          string_handle: a string scalar.
          output_types, output_shapes, output_classes: as for `from_structure`.

        Raises:
          TypeError or ValueError as from_structure does.
          At run time: tf.errors.InvalidArgumentError for other strings and other elements, NotFoundError for an
            iterator that this session does not have.
        """
        types, shapes, classes, spec = _structure(output_types, output_shapes, output_classes)
        string_handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with _on_cpu():
            resource = ops.iterator_from_string_handle_v2(
                string_handle,
                output_types=structure.get_flat_tensor_types(spec),
                output_shapes=structure.get_flat_tensor_shapes(spec),
            )
        return Iterator(resource, None, types, shapes, classes)

    @property
    def initializer(self):
        """The operation that starts it. Raises ValueError if there is none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that starts it at a data set. Raises TypeError or ValueError for other elements."""
        with name_scope(name, "make_initializer") as scope:
            spec = dataset.element_spec
            types, shapes = structure.output_types(spec), structure.output_shapes(spec)
            nest.assert_same_structure(self.output_types, types)
            nest.assert_same_structure(self.output_shapes, shapes)
            self._check(spec, types, shapes)
        with get_default_graph().colocate_with(self._iterator_resource):
            return ops.make_iterator(dataset._variant_tensor, self._iterator_resource, name=scope)

    def _check(self, spec, types, shapes):
        classes = structure.output_classes(spec)
        for ours, theirs in zip(nest.flatten(self.output_classes), nest.flatten(classes), strict=True):
            if ours is not theirs and ours != theirs:
                raise TypeError(
                    f"Expected output classes {self.output_classes!r} but got dataset with output class {classes!r}."
                )
        for ours, theirs in zip(nest.flatten(self.output_types), nest.flatten(types), strict=True):
            if ours != theirs:
                raise TypeError(
                    f"Expected output types {self.output_types!r} but got dataset with output types {types!r}."
                )
        for ours, theirs in zip(nest.flatten(self.output_shapes), nest.flatten(shapes), strict=True):
            if not ours.is_compatible_with(theirs):
                raise TypeError(
                    f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output "
                    f"shapes {shapes!r}."
                )

    def get_next(self, name=None):
        """The tensors of the next element; to be called once, and what it returns to be run as often as wanted.

        Raises:
          At run time: tf.errors.OutOfRangeError at the end, FailedPreconditionError before it was started.
        """
        self._get_next_call_count += 1
        if self._get_next_call_count > _MANY_CALLS:
            warnings.warn(
                "An unusually high number of `Iterator.get_next()` calls was detected. Each of them adds nodes to "
                "the graph: call it once outside the loop, and run what it returned.",
                stacklevel=2,
            )
        tensors = ops.iterator_get_next(
            self._iterator_resource,
            output_types=structure.get_flat_tensor_types(self._element_spec),
            output_shapes=structure.get_flat_tensor_shapes(self._element_spec),
            name=name,
        )
        return structure.from_compatible_tensor_list(self._element_spec, tensors)

    def _gather_saveables_for_checkpoint(self):
        return {"ITERATOR": lambda name: IteratorPosition(self._iterator_resource, name)}

    def string_handle(self, name=None):
        """A string scalar that stands for it, for `from_string_handle`."""
        if name is None:
            return self._string_handle
        return ops.iterator_to_string_handle(self._iterator_resource, name=name)


def _structure(types, shapes, classes):
    """Types, shapes and classes with what was left out, and the specification that they give."""
    types = nest.map_structure(dtypes.as_dtype, types)
    if shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), types)
    else:
        shapes = nest.map_structure_up_to(types, as_shape, shapes)
    if classes is None:
        classes = nest.map_structure(lambda _: Tensor, types)
    nest.assert_same_structure(types, shapes)
    return types, shapes, classes, structure.convert_legacy_structure(types, shapes, classes)


def _on_cpu():
    """A device scope, unless there is one already."""
    graph = get_default_graph()
    return contextlib.nullcontext() if graph._device_stack else graph.device("/cpu:0")


@public("data.make_initializable_iterator")
def make_initializable_iterator(dataset, shared_name=None):
    """An iterator over a data set, with its initializer. Raises RuntimeError while executing eagerly."""
    require_graph("dataset.make_initializable_iterator is not supported when eager execution is enabled.")
    check_graph(dataset)
    dataset = apply_options(dataset)
    spec = dataset.element_spec
    resource = ops.iterator_v2(container="", shared_name=shared_name or "", **dataset._flat_structure)
    with get_default_graph().colocate_with(resource):
        initializer = ops.make_iterator(dataset._variant_tensor, resource)
    return Iterator(
        resource, initializer, structure.output_types(spec), structure.output_shapes(spec),
        structure.output_classes(spec),
    )  # fmt: skip


@public("data.experimental.get_structure")
def element_spec_of(dataset_or_iterator):
    """What the elements are. Raises TypeError for what has none."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(dataset_or_iterator)}."
        ) from None


@public("data.get_output_types")
def get_output_types(dataset_or_iterator):
    """The types of the components of a data set's or iterator's elements. Raises TypeError for anything else."""
    return structure.output_types(element_spec_of(dataset_or_iterator))


@public("data.get_output_shapes")
def get_output_shapes(dataset_or_iterator):
    """The shapes of the components, as far as they are known. Raises TypeError for anything else."""
    return structure.output_shapes(element_spec_of(dataset_or_iterator))


@public("data.get_output_classes")
def get_output_classes(dataset_or_iterator):
    """The classes of the components. Raises TypeError for anything else."""
    return structure.output_classes(element_spec_of(dataset_or_iterator))


graph_loops.install_iterator(Iterator)
