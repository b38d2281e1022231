"""The syntax tree of a function, from the file that it was defined in."""

from __future__ import annotations

import ast
import copy
import functools
import inspect


@functools.lru_cache(maxsize=64)
def _parsed(text):
    return ast.parse(text)


def tree_of(function):
    """A copy of the ast.FunctionDef or ast.Lambda of a function, with the lines of its file.

    Raises ValueError if its source is not to be had, or if several lambdas of a line may be the one.
    """
    code = function.__code__
    try:
        lines, _ = inspect.findsource(code)
    except (OSError, TypeError, IndexError) as error:
        raise ValueError(
            f"Unable to locate the source code of {function}. Note that functions defined in certain "
            f"environments, like "
            "the interactive Python shell do not expose their source code. If that is the case, you should to define "
            "them in a .py source file. If you are certain the code is graph-compatible, wrap the call using "
            f"@tf.autograph.do_not_convert. Original error: {error}"
        ) from None
    try:
        tree = _parsed("".join(lines))
    except SyntaxError:
        raise ValueError(f"could not parse the source code of {function}: no matching AST found") from None
    found = list(_candidates(tree, code))
    if code.co_name == "<lambda>" and len(found) > 1:
        found = _at_position(found, code) or found
    if len(found) != 1:
        line = lines[code.co_firstlineno - 1].strip() if code.co_firstlineno <= len(lines) else ""
        raise ValueError(
            f"Unable to identify source code of lambda function {function}. It was defined on this line: "
            f"{line}, which "
            "must contain a single lambda with matching signature. To avoid ambiguity, define each lambda in a "
            "separate expression."
        )
    return copy.deepcopy(found[0])


def _candidates(tree, code):
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and _arguments(node) == _given(code):
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if code.co_firstlineno in (first, node.lineno):
                yield node


def _arguments(node):
    args = node.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]


def _given(code):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


def _at_position(lambdas, code):
    """Those whose body is where the code says, which Python tells from 3.11 on."""
    if not hasattr(code, "co_positions"):
        return []
    columns = [(line, column) for line, _, column, _ in code.co_positions() if column]
    if not columns:
        return []
    line, column = min(columns)
    return [
        node for node in lambdas
        if (node.body.lineno, node.body.col_offset) <= (line, column)
        <= (node.body.end_lineno, node.body.end_col_offset)
    ]  # fmt: skip
