"""Examples of requests to classify or regress: JSON becomes serialized tf.train.Examples."""

from __future__ import annotations

import numpy as np

from stillflow.formats import protobuf
from stillflow.serving.json_text import debug_text, type_name
from stillflow.serving.status import invalid
from stillflow.serving.tensors import bytes_of, is_base64


def serialized_examples(request):
    """The "examples" of a request, each with the features of "context": an array of bytes.

    Raises InvalidArgumentError for a request that does not fit.
    """
    context = protobuf.message("Example")()
    if "context" in request:
        _fill(context, request["context"])
    if "examples" not in request:
        raise invalid(
            f"JSON Value: {debug_text(request)} When method is classify, key 'examples' is expected and was not found"
        )
    examples = request["examples"]
    if not isinstance(examples, list):
        raise invalid(f"JSON Value: {debug_text(request)} Expecting 'examples' value to be an list/array")
    if not examples:
        raise invalid(f"JSON Value: {debug_text(request)} 'examples' value is an empty array")
    found = np.empty(len(examples), object)
    for number, value in enumerate(examples):
        example = protobuf.message("Example")()
        _fill(example, value)
        for name, feature in context.features.feature.items():
            if name not in example.features.feature:
                example.features.feature[name].CopyFrom(feature)
        found[number] = example.SerializeToString(deterministic=True)
    return found


def _fill(example, value):
    if not isinstance(value, dict):
        raise invalid(f"Example must be JSON object but got JSON {type_name(value)}")
    for name, content in value.items():
        feature = example.features.feature[name]
        for element in content if isinstance(content, list) else [content]:
            _add(feature, name, element)


def _add(feature, name, element):
    if element is None or isinstance(element, list) or (isinstance(element, dict) and not is_base64(element)):
        raise invalid(f"Feature: {name} has element with unexpected JSON type: {type_name(element)}")
    if isinstance(element, (str, dict)):
        _list_of(feature, name, "bytes_list").append(bytes_of(element))
    elif isinstance(element, float):
        _list_of(feature, name, "float_list").append(element)
    elif element >= 2**63:
        raise invalid(f"Feature: {name} has uint64_t element. Only int64_t is supported.")
    else:
        _list_of(feature, name, "int64_list").append(int(element))


def _list_of(feature, name, kind):
    found = feature.WhichOneof("kind")
    if found not in (None, kind):
        expected = found.removesuffix("_list")
        raise invalid(f"Unexpected element type in feature: {name} expecting type: {expected}")
    return getattr(feature, kind).value
