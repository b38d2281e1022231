"""tf.contrib.framework.py_func: a Python function of structures."""

from __future__ import annotations

from stillflow.composites.py_func import py_func as _py_func
from stillflow.datasets.nest import flatten_up_to
from stillflow.graph import nest
from stillflow.graph.shape import as_shape
from stillflow.names import public


@public("contrib.framework.py_func")
def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None, stateful=True, name=None):
    """What a Python function makes of the values of tensors.

    Args:
      func: the function, of numpy arrays in the structure of the arguments.
      args: a list of its arguments, structures of tensors.
      kwargs: a dict of more of them.
      output_types: the structure of its result's types, or a function of the arguments that makes it.
      output_shapes: the structure of its result's shapes, or such a function; None if they are not known.
      stateful: whether it may give another result for the same arguments.
      name: of the node.

    Returns:
      The structure of the result's tensors.

    Raises:
      TypeError: for arguments that are no list or no dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    if callable(output_types):
        output_types = output_types(*args, **kwargs)
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    structure = (args, kwargs)

    def call(*values):
        found_args, found_kwargs = nest.pack_sequence_as(structure, list(values))
        return flatten_up_to(output_types, func(*found_args, **found_kwargs))

    found = _py_func(call, nest.flatten(structure), nest.flatten(output_types), stateful=stateful, name=name)
    if output_shapes is not None:
        for tensor, shape in zip(found, flatten_up_to(output_types, output_shapes), strict=True):
            tensor.set_shape(as_shape(shape))
    return nest.pack_sequence_as(output_types, found)
