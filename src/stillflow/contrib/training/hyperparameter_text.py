"""Hyperparameters as text: "name=value", "name[1]=value", "name=[value,value]", with commas between."""

from __future__ import annotations

import re

from stillflow.names import public

_ASSIGNMENT = re.compile(
    r"""
    (?P<name> [a-zA-Z] [\w.]* )
    ( \[ \s* (?P<index> \d+ ) \s* \] )?
    \s* = \s*
    ( (?P<value> [^,\[]* ) | \[ (?P<items> [^\]]* ) \] )
    ( $ | ,\s* )
    """,
    re.VERBOSE,
)


def _could_not_parse(name, kind, value, values):
    return ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{value}' in {values}")


def _assigned_twice(name, values):
    return ValueError(f"Multiple assignments to variable '{name}' in {values}")


def _as_bool(text):
    known = {"true": True, "True": True, "false": False, "False": False}
    return known[text] if text in known else bool(int(text))


def _converted(name, kind, text, part, values):
    """One item as a value of that type; `part` is what an error shows."""
    try:
        return _as_bool(text) if kind is bool else kind(text)
    except ValueError:
        raise _could_not_parse(name, kind, part, values) from None


@public("contrib.training.parse_values")
def parse_values(values, type_map, ignore_unknown=False):
    """{name: value} of a text such as "rate=0.1,sizes=[1,2],weights[3]=2".

    Args:
      values: the text.
      type_map: {name: type}, of an item for a list.
      ignore_unknown: whether other names are passed over.

    Returns:
      A dictionary; of names that were assigned with an index a value is {index: value}.

    Raises:
      ValueError: for what does not parse, another name, or two assignments to one name or index.
    """
    results: dict = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(results, name, type_map[name], match, values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return results


def _assign(results, name, kind, match, values):
    value, items, index = match["value"], match["items"], match["index"]
    if items is not None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        if name in results:
            raise _assigned_twice(name, values)
        results[name] = [_converted(name, kind, item, items, values) for item in re.split("[ ,]", items) if item]
        return
    converted = _converted(name, kind, value, value, values)
    if index is None:
        if name in results:
            raise _assigned_twice(name, values)
        results[name] = converted
        return
    if not isinstance(results.setdefault(name, {}), dict):
        raise _assigned_twice(name, values)
    if int(index) in results[name]:
        raise _assigned_twice(f"{name}[{int(index)}]", values)
    results[name][int(index)] = converted
