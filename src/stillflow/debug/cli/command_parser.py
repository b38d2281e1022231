"""What is entered: commands and their arguments, slices of tensors, ranges, sizes and times."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from typing import Any

from stillflow.names import public_module

public_module("python.debug.cli.command_parser")

_KEPT_TOGETHER = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|'[^']*'")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_SIZES = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass
class Interval:
    """An interval of numbers, or of texts that are to become numbers; its ends may belong to it or not."""

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value):
        """Whether a number lies within."""
        is_after = value > self.start or (value == self.start and self.start_included)
        return is_after and (value < self.end or (value == self.end and self.end_included))


def parse_command(command):
    """The words of a command. Within quotes and brackets there are no ends of words; outer quotes are taken off."""
    command = command.strip()
    # Every part in quotes or brackets becomes letters, so that only spaces outside of them are left.
    masked = _KEPT_TOGETHER.sub(lambda match: "x" * len(match.group()), command)
    words = [command[match.start() : match.end()] for match in re.finditer(r"\S+", masked)]
    return [word[1:-1] if word[0] == word[-1] and word[0] in "\"'" and len(word) > 1 else word for word in words]


def extract_output_file_path(args):
    """What a command's words say of a file for its output, "> file".

    Returns the other words, and the file or None. Raises SyntaxError if the file is missing.
    """
    if not args:
        return args, None
    last, before = args[-1], args[-2] if len(args) > 1 else ""
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if last.startswith(">"):
        is_interval = before.startswith("-") and _is_interval(last)
        return (args, None) if is_interval else (args[:-1], last[1:])
    if before == ">":
        return args[:-2], last
    if last.count(">") == 1:
        word, _, path = last.partition(">")
        return (args, None) if word.endswith("=") else ([*args[:-1], word], path)
    if before.endswith(">"):
        return [*args[:-2], before[:-1]], last
    return args, None


def _is_interval(text):
    try:
        _parse_interval(text)
    except ValueError:
        return False
    return True


def parse_tensor_name_with_slicing(in_str):
    """("node:0", "[1, :]") of "node:0[1, :]"; the second is empty without brackets."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        name, _, rest = in_str.partition("[")
        return name, f"[{rest}"
    return in_str, ""


def validate_slicing_string(slicing_string):
    """Whether a text is made of brackets with digits, commas, colons and spaces in them."""
    return bool(re.search(r"^\[(\d|,|\s|:)+\]$", slicing_string))


def evaluate_tensor_slice(tensor, tensor_slicing):
    """The part of an array that a text such as "[1, :]" names. Raises ValueError for another text."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[tuple(_slice(part) for part in tensor_slicing[1:-1].split(","))]


def _slice(text):
    numbers = [int(part) if part.strip() else None for part in text.split(":")]
    if len(numbers) > 3 or (len(numbers) == 1 and numbers[0] is None):
        raise ValueError("Invalid tensor-slicing string.")
    return numbers[0] if len(numbers) == 1 else slice(*numbers)


def parse_indices(indices_string):
    """A list of integers, with or without brackets. Raises ValueError for other texts."""
    text = re.sub(r"\s+", "", indices_string)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [int(element) for element in text.split(",")]


def parse_ranges(range_string):
    """Ranges of numbers, [[first, last], ...], of "[first, last]" or a list of such; "inf" is the largest float.

    Raises ValueError for other texts, SyntaxError for what cannot be read.
    """
    range_string = range_string.strip()
    if not range_string:
        return []
    ranges = ast.literal_eval(range_string.replace("inf", repr(sys.float_info.max)))
    if isinstance(ranges, list) and not isinstance(ranges[0], list):
        ranges = [ranges]
    for item in ranges:
        if len(item) != 2:
            raise ValueError("Incorrect number of elements in range")
        for end, name in zip(item, ("1st", "2nd"), strict=True):
            if not isinstance(end, (int, float)):
                raise ValueError(f"Incorrect type in the {name} element of range: {type(end)}")
    return ranges


def parse_memory_interval(interval_str):
    """An Interval of bytes, of "[1k, 2M]", ">1G" and their kin. Raises ValueError for other texts."""
    fault = "Start of interval must be less than or equal to end of interval."
    return _numbers(interval_str, parse_readable_size_str, fault)


def parse_time_interval(interval_str):
    """An Interval of microseconds, of "[1us, 2ms]", ">1s" and their kin. Raises ValueError for other texts."""
    return _numbers(interval_str, parse_readable_time_str, "Start must be before end of interval.")


def _numbers(text, parse, fault):
    interval = _parse_interval(text)
    start = parse(interval.start) if interval.start else 0
    end = parse(interval.end) if interval.end else float("inf")
    if start > end:
        raise ValueError(f"Invalid interval {text}. {fault}")
    return Interval(start, interval.start_included, end, interval.end_included)


def _parse_interval(text):
    """An Interval of texts, None where it has no end. Raises ValueError."""
    text = text.strip()
    for sign in ("<=", "<", ">=", ">"):
        if text.startswith(sign):
            value = text.removeprefix(sign).strip()
            if not _NUMBER.match(value):
                raise ValueError(f"Invalid value string after {sign} in '{text}'")
            is_included = sign.endswith("=")
            return (
                Interval(None, False, value, is_included)
                if sign[0] == "<"
                else Interval(value, is_included, None, False)
            )
    if not (text.startswith(("[", "(")) and text.endswith(("]", ")"))):
        raise ValueError(f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max, >min")
    ends = [part.strip() for part in text[1:-1].split(",")]
    if len(ends) != 2:
        raise ValueError(
            f"Incorrect interval format: {text}. Interval should specify two values: [min, max] or (min, max)."
        )
    for end, name in zip(ends, ("first", "second"), strict=True):
        if not _NUMBER.match(end):
            raise ValueError(f"Invalid {name} item in interval: '{end}'")
    return Interval(ends[0], text[0] == "[", ends[1], text[-1] == "]")


def parse_readable_size_str(size_str):
    """A number of bytes, of "1024", "1.5k", "2MB" and their kin. Raises ValueError for other texts."""
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] in _SIZES:
        return int(float(text[:-1]) * _SIZES[text[-1]])
    raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')


def parse_readable_time_str(time_str):
    """A number of microseconds, of "10", "10us", "1.5ms", "2s". Raises ValueError for other texts."""
    text = time_str.strip()
    unit = next((unit for unit in _TIMES if text.endswith(unit)), "")
    value = float(text.removesuffix(unit))
    if value < 0:
        raise ValueError(f"Invalid time {text.removesuffix(unit)}. Time value must be positive.")
    return int(value * _TIMES.get(unit, 1.0))


def get_print_tensor_argparser(description):
    """The arguments of a command that prints a tensor."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    parser.add_argument(
        "tensor_name", type=str,
        help="The tensor, with or without indices, e.g., hidden1/MatMul:0, hidden1/MatMul:0[1, :]",
    )  # fmt: skip
    parser.add_argument(
        "-n", "--number", dest="number", type=int, default=-1,
        help="Which dump of a tensor that was dumped several times, from 0 on.",
    )  # fmt: skip
    parser.add_argument(
        "-r", "--ranges", dest="ranges", type=str, default="",
        help='Ranges of the elements to highlight, e.g., -r 0,1e-8, -r [-0.1,0.1], -r "[[-inf, -0.1], [0.1, inf]]"',
    )  # fmt: skip
    parser.add_argument(
        "-a", "--all", dest="print_all", action="store_true", help="Print all elements, without ellipses."
    )
    parser.add_argument(
        "-s", "--numeric_summary", action="store_true", help="Print counts and statistics of the elements, too."
    )
    parser.add_argument(
        "-w", "--write_path", type=str, default="", help="A file to write the array to, with numpy.save()."
    )
    return parser
