"""tensorflow.python.tools.inspect_checkpoint: prints what a checkpoint holds."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, cast

import numpy as np

from stillflow.names import public_module
from stillflow.saver.checkpoint_reader import NewCheckpointReader
from stillflow.tools import graph_files

public_module("python.tools.inspect_checkpoint")


def _parameter_count(reader, exclude_pattern):
    """How many numbers the tensors have, those aside whose names match a pattern."""
    sizes = {name: int(np.prod(shape)) for name, shape in reader.get_variable_to_shape_map().items()}
    if exclude_pattern:
        left_out = [name for name in sizes if re.search(exclude_pattern, name)]
        print(
            f"# Excluding {len(left_out)} tensors ({sum(sizes.pop(name) for name in left_out)} params) that match "
            f"{exclude_pattern} when counting."
        )
    return sum(sizes.values())


def print_tensors_in_checkpoint_file(
    file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""
):
    """Prints the tensors of a checkpoint, and the number of its parameters. Errors are printed, not raised.

    Args:
      file_name: the prefix of the checkpoint's files.
      tensor_name: the tensor to print; if it is empty, the names, dtypes and shapes of all are.
      all_tensors: whether to print the names and values of all tensors.
      all_tensor_names: whether to print the names of all tensors.
      count_exclude_pattern: a regular expression; tensors that match it are not counted.
    """
    try:
        reader = NewCheckpointReader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode("utf-8"))
        else:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        print(f"# Total number of params: {_parameter_count(reader, count_exclude_pattern)}")
    except Exception as error:
        print(str(error))
        if "corrupted compressed block contents" in str(error):
            print("It's likely that your checkpoint file has been compressed with SNAPPY.")
        if "Data loss" in str(error) and any(suffix in file_name for suffix in (".index", ".meta", ".data")):
            prefix = ".".join(file_name.split(".")[:-1])
            print(
                "\nIt's likely that this is a V2 checkpoint and you need to provide the filename\n*prefix*.  Try "
                f"removing the '.' and extension.  Try:\ninspect checkpoint --file_name = {prefix}"
            )


_SWITCH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def parse_numpy_printoption(kv_str):
    """Sets an option of numpy.set_printoptions from a text such as "threshold=100000".

    Raises argparse.ArgumentTypeError if there is no such option, or the value does not fit it.
    """
    name, equals, text = kv_str.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    options: dict[str, Any] = dict(np.get_printoptions())
    if name not in options:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(options[name])
    if kind is type(None):
        raise argparse.ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    try:
        value = _SWITCH[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    np.set_printoptions(**cast("dict[str, Any]", {name: value}))


def main(flags):
    """Prints as the program's options say."""
    if not flags.file_name:
        print(
            "Usage: inspect_checkpoint --file_name=checkpoint_file_name [--tensor_name=tensor_to_print] "
            "[--all_tensors] [--all_tensor_names] [--printoptions]"
        )
        sys.exit(1)
    print_tensors_in_checkpoint_file(
        flags.file_name,
        flags.tensor_name,
        flags.all_tensors,
        flags.all_tensor_names,
        count_exclude_pattern=flags.count_exclude_pattern,
    )


if __name__ == "__main__":
    options = graph_files.Options()
    options.text("file_name", help="the prefix of the checkpoint's files")
    options.text("tensor_name", help="the tensor to print")
    options.text("count_exclude_pattern", help="a pattern of the names of tensors not to count")
    options.switch("all_tensors", False, help="whether to print the names and values of all tensors")
    options.switch("all_tensor_names", False, help="whether to print the names of all tensors")
    options.text("printoptions", None, nargs="*", type=parse_numpy_printoption, help="k=v for numpy.set_printoptions")
    options.run(main)
