"""The signatures of a SavedModel of objects: functions from tensors by name to tensors by name."""

from __future__ import annotations

import collections.abc

from stillflow.graph import nest
from stillflow.graph.operation import Tensor
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.platform.compat import as_str
from stillflow.saver.saved_model import names
from stillflow.traced_functions import polymorphic
from stillflow.traced_functions.concrete import ConcreteFunction
from stillflow.traced_functions.function import Function, function
from stillflow.tracking.base import TracedFunction, Trackable
from stillflow.tracking.revived_types import VersionedTypeRegistration, register_revived_type

# The function of an object that is its signature if none is asked for.
DEFAULT_SIGNATURE_ATTRIBUTE = "_default_save_signature"
# What an object that was loaded has its signatures in.
SIGNATURES_ATTRIBUTE = "signatures"


def concrete_of(item):
    """The ConcreteFunction of a function that has an input signature, or of one trace; None for others."""
    if isinstance(item, (polymorphic.Function, Function)) and item.input_signature is not None:
        item = item.get_concrete_function()
    return item if isinstance(item, ConcreteFunction) else None


def find_function_to_export(functions):
    """The function to be the signature where none is asked for, or None.

    `functions` are those of the root by name: its default, or the only one that can be a signature.
    """
    if DEFAULT_SIGNATURE_ATTRIBUTE in functions:
        return functions[DEFAULT_SIGNATURE_ATTRIBUTE]
    candidates = [concrete for concrete in map(concrete_of, functions.values()) if _can_be_signature(concrete)]
    return candidates[0] if len(candidates) == 1 else None


def _can_be_signature(concrete):
    if concrete is None or not concrete.outputs:
        return False
    try:
        _by_name(concrete.structured_outputs, "", "")
    except ValueError:
        return False
    return True


@public("python.saved_model.signature_serialization.canonicalize_signatures")
def canonicalize_signatures(signatures):
    """{name: ConcreteFunction that takes and returns tensors by name} of functions of tensors.

    Args:
      signatures: None; a function, which is the one that servers call by default; or {name: function}.

    Raises ValueError for what is no function of tensors with an input signature, and for nested results.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, collections.abc.Mapping):
        signatures = {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _canonical(key, item) for key, item in signatures.items()}


def _canonical(key, item):
    concrete = concrete_of(item)
    if concrete is None:
        raise ValueError(
            f"Expected a TensorFlow function to generate a signature for, but got {item}. Only `tf.functions` with "
            "an input signature or concrete functions can be used as a signature."
        )

    @function
    def signature_wrapper(**kwargs):
        return _by_name(concrete(**kwargs), concrete.name, key)

    keywords = map(as_str, concrete._arg_keywords)
    specs = {
        keyword: TensorSpec.from_tensor(tensor, name=keyword)
        for keyword, tensor in zip(keywords, concrete.inputs, strict=False)
    }
    wrapped = signature_wrapper.get_concrete_function(**specs)
    # Signatures have no order; one argument needs none.
    wrapped._num_positional_args = int(len(wrapped._arg_keywords) == 1)
    return wrapped


def _by_name(outputs, function_name, key):
    """What a function returns, as {name: tensor}. Raises ValueError for nested structures."""
    if isinstance(outputs, collections.abc.Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the output of the "
                    f"function {as_str(function_name)} used to generate a SavedModel signature. Dictionaries outputs "
                    "for functions used as signatures should have one Tensor output per string key."
                )
        return outputs
    items = outputs if isinstance(outputs, collections.abc.Sequence) else [outputs]
    if not _is_flat(items):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{as_str(function_name)}' for SavedModel signature '{key}'. "
            "Signatures have one Tensor per output, so to have predictable names Python functions used to generate "
            "these signatures should avoid outputting Tensors in nested structures."
        )
    return {f"output_{index}": item for index, item in enumerate(items)}


def _is_flat(items):
    try:
        nest.assert_same_structure(nest.flatten(items), items, check_types=False)
    except (ValueError, TypeError):
        return False
    return True


class SignatureMap(collections.abc.Mapping, Trackable):
    """The signatures of an object, by name; a SavedModel keeps them as an object that it depends on."""

    def __init__(self, signatures=()):
        self._signatures: dict = dict(signatures)

    def _add_signature(self, name, concrete_function):
        self._signatures[name] = concrete_function

    def __getitem__(self, key):
        return self._signatures[key]

    def __iter__(self):
        return iter(self._signatures)

    def __len__(self):
        return len(self._signatures)

    def __repr__(self):
        return f"_SignatureMap({self._signatures})"

    def _list_functions_for_serialization(self, serialization_cache):
        return {key: value for key, value in self.items() if isinstance(value, TracedFunction)}


register_revived_type(
    "signature_map",
    lambda value: isinstance(value, SignatureMap),
    [VersionedTypeRegistration(lambda proto: SignatureMap(), 1, 1, 1, setter=SignatureMap._add_signature)],
)


def check_signatures_attribute(root, dependencies):
    """Raises ValueError if an object depends on something else by the name of the signatures."""
    for name, value in dependencies:
        if name == SIGNATURES_ATTRIBUTE and not isinstance(value, SignatureMap):
            raise ValueError(
                f"Exporting an object {root} which has an attribute named '{name}'. This is a reserved attribute "
                "used to store SavedModel signatures in objects which come from `tf.saved_model.load`. Delete this "
                f"attribute (e.g. 'del obj.{name}') before saving if this shadowing is acceptable."
            )
