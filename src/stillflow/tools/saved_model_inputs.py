"""What `saved_model_cli run` is fed: arrays in files, Python expressions, and examples."""

from __future__ import annotations

import re
import warnings

import numpy as np

from stillflow.files.gfile import GFile
from stillflow.formats import protobuf


def load(inputs, exprs, examples):
    """{input: array} of the options --inputs, --input_exprs and --input_examples; later ones override.

    Raises RuntimeError for a malformed option, or a file that does not have the array.
    """
    found = {key: _from_file(*place) for key, place in parse_inputs(inputs).items()}
    for key, value in parse_exprs(exprs).items():
        if key in found:
            warnings.warn(
                f"input_key {key} has been specified with both --inputs and --input_exprs options. Value in "
                "--input_exprs will be used.",
                stacklevel=2,
            )
        found[key] = value
    for key, value in parse_examples(examples).items():
        if key in found:
            warnings.warn(
                f"input_key {key} has been specified in multiple options. Value in --input_examples will be used.",
                stacklevel=2,
            )
        found[key] = value
    return found


def parse_inputs(text):
    """{input: (file, name of an array in it or None)} of "x=file.npz[name];y=file.npy"."""
    found = {}
    for item in filter(bool, text.split(";")):
        match = re.match(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$", item)
        if match is None:
            raise RuntimeError(
                f'--inputs "{item}" format is incorrect. Please follow"<input_key>=<filename>", or'
                '"<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = match[2], match[3]
    return found


def parse_exprs(text):
    """{input: value} of "x=np.ones(2);y=[3]". The expressions are run; numpy is their `np`."""
    found = {}
    for item in filter(bool, text.split(";")):
        key, equals, expression = item.partition("=")
        if not equals:
            raise RuntimeError(
                f'--input_exprs "{text}" format is incorrect. Please follow"<input_key>=<python expression>"'
            )
        found[key] = eval(expression, {"np": np})
    return found


def parse_examples(text):
    """{input: [serialized tf.train.Example]} of 'x=[{"feature": [1.0]}]'. Raises ValueError for what is no list."""
    found = parse_exprs(text)
    for key, items in found.items():
        if not isinstance(items, list):
            raise ValueError(f'tf.Example input must be a list of dictionaries, but "{items}" is {type(items)}')
        found[key] = [_example(item) for item in items]
    return found


def _example(features):
    example = protobuf.message("Example")()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature = example.features.feature[name]
        if isinstance(values[0], float):
            feature.float_list.value.extend(values)
        elif isinstance(values[0], str):
            feature.bytes_list.value.extend(value.encode("utf8") for value in values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"Type {type(values[0])} for value {values[0]} is not supported for tf.train.Feature.")
    return example.SerializeToString()


def _from_file(path, name):
    with GFile(path, "rb") as file:
        data = np.load(file, allow_pickle=True)
        if isinstance(data, np.ndarray):
            if name:
                warnings.warn(
                    f'Input file {path} contains a single ndarray. Name key "{name}" ignored.', stacklevel=3
                )
            return data
        if name:
            if name not in data:
                raise RuntimeError(f'Input file {path} does not contain variable with name "{name}".')
            return data[name]
        if not isinstance(data, np.lib.npyio.NpzFile):
            return data
        if len(data.files) != 1:
            raise RuntimeError(
                f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use."
            )
        return data[data.files[0]]
