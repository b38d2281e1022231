"""JSON as TensorFlow Serving reads and writes it: its messages of errors, its numbers, its line breaks."""

from __future__ import annotations

import json
import math
import re

import numpy as np

from stillflow.serving.status import invalid

# What Python's reader says, and what RapidJSON says instead.
_MESSAGES = {
    "Expecting value": "Invalid value.",
    "Expecting property name enclosed in double quotes": "Missing a name for object member.",
    "Illegal trailing comma before end of object": "Missing a name for object member.",
    "Illegal trailing comma before end of array": "Invalid value.",
    "Expecting ':' delimiter": "Missing a colon after a name of object member.",
    "Unterminated string starting at": "Missing a closing quotation mark in string.",
    "Invalid \\escape": "Invalid escape character in string.",
    "Invalid \\uXXXX escape": "Incorrect hex digit after \\u escape in string.",
    "Invalid control character at": "Invalid encoding in string.",
}
_TOO_BIG = "Number too big to be stored in double."
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)


def parsed(body):
    """The object that bytes of JSON hold; what comes after it is ignored.

    Raises InvalidArgumentError for what is no JSON, or no object.
    """
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    text = body.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if start == len(text):
        raise invalid(f"JSON Parse error: The document is empty. at offset: {start}")
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        message = _MESSAGES.get(error.msg) or _missing_comma(text[: error.pos])
        raise invalid(f"JSON Parse error: {message} at offset: {error.pos}") from None
    except RecursionError:
        raise invalid("JSON Parse error: Terminate parsing due to Handler error. at offset: 0") from None
    except OverflowError:
        raise invalid(f"JSON Parse error: {_TOO_BIG} at offset: 0") from None
    if not isinstance(value, dict):
        raise invalid(f"JSON Value: {debug_text(value)} Is not object")
    return value


def _first_of_each(pairs):
    found: dict = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def _float(text):
    value = float(text)
    if math.isinf(value):
        raise OverflowError
    return value


def _int(text):
    value = float(text)
    return int(text) if abs(value) < 2.0**63 or _fits(text) else _float(text)


def _fits(text):
    return len(text) < 21 and -(2**63) <= int(text) < 2**64


_DECODER = json.JSONDecoder(object_pairs_hook=_first_of_each, parse_float=_float, parse_int=_int)


def _missing_comma(text):
    """The message for a text that ends where a comma or a bracket should be."""
    open_brackets = []
    for character in _STRING.sub("", text):
        if character in "[{":
            open_brackets.append(character)
        elif character in "]}" and open_brackets:
            open_brackets.pop()
    if open_brackets and open_brackets[-1] == "{":
        return "Missing a comma or } after an object member."
    return "Missing a comma or ] after an array element."


def type_name(value):
    """What TensorFlow Serving calls the type of a JSON value."""
    if value is None or isinstance(value, bool):
        return {None: "Null", False: "False", True: "True"}[value]
    kinds = ((dict, "Object"), (list, "Array"), (str, "String"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "Number")


# ---- Writing ------------------------------------------------------------------------------------------------------


class PrettyWriter:
    """Writes JSON with RapidJSON's line breaks: arrays are written on one line where `single_line` is set.

    Args:
      limit: how many characters to write at most, but for the last value; None for all.
    """

    def __init__(self, limit=None):
        self._pieces: list = []
        self._length = 0
        self._limit = limit
        self._levels: list = []  # [is an array, how many values so far]
        self.single_line = False

    def text(self):
        """What has been written."""
        return "".join(self._pieces)

    def is_full(self):
        """Whether the limit is reached."""
        return self._limit is not None and self._length >= self._limit

    def _put(self, text):
        self._pieces.append(text)
        self._length += len(text.encode("utf-8", "surrogatepass")) if self._limit is not None else 0

    def _break(self):
        self._put("\n" + "    " * len(self._levels))

    def _prefix(self):
        if not self._levels:
            return
        level = self._levels[-1]
        is_array, count = level
        level[1] += 1
        if is_array:
            self._put(("," if count else "") + (" " if count and self.single_line else ""))
            if not self.single_line:
                self._break()
        elif count % 2:
            self._put(": ")
        else:
            self._put("," if count else "")
            self._break()

    def raw(self, text):
        """Writes a value that is JSON already."""
        self._prefix()
        self._put(text)

    def string(self, text):
        """Writes a string, or the key of an object."""
        self.raw(json.dumps(text, ensure_ascii=False))

    def start(self, bracket):
        """Begins an array "[" or an object "{"."""
        self._prefix()
        self._levels.append([bracket == "[", 0])
        self._put(bracket)

    def end(self):
        """Ends the innermost array or object."""
        is_array, count = self._levels.pop()
        if count and not (is_array and self.single_line):
            self._break()
        self._put("]" if is_array else "}")

    def value(self, value):
        """Writes anything that JSON has. Returns whether there is room for more."""
        if self.is_full():
            return False
        if isinstance(value, (list, dict)):
            self.start("[" if isinstance(value, list) else "{")
            for item in value:
                if isinstance(value, dict):
                    if self.is_full():
                        return False
                    self.string(item)
                    item = value[item]
                if not self.value(item):
                    return False
            if self.is_full():
                return False
            self.end()
        elif isinstance(value, str):
            self.string(value)
        else:
            self.raw(json.dumps(value))
        return True


def debug_text(value):
    """A JSON value as messages of errors show it: its first 256 characters or so."""
    writer = PrettyWriter(limit=256)
    writer.single_line = True
    writer.value(value)
    return writer.text()


def number_text(value):
    """A number of numpy: a whole float ends with ".0", and all digits are there that it needs to be read again."""
    if not isinstance(value, np.floating):
        return ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else str(int(value))
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = f"{value:g}"
    if type(value)(text) != value:
        text = f"{value:.{9 if value.dtype == np.float32 else 17}g}"
    return text if "." in text or "e" in text else text + ".0"


def error_text(message):
    """The body of an error."""
    writer = PrettyWriter()
    writer.value({"error": message.encode("utf-8", "replace").decode()})
    return writer.text()
