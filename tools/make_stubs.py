"""Stubs of `stillflow` and its namespaces, for editors and type checkers: written by make_tables.py from the marks.

They are a package of their own, stillflow-stubs: most namespaces are modules that exist only while a program runs.
"""

import ast
import inspect

_PREFIX = "from typing import Any\n"


def stubs(names, op_functions):
    """{path below stillflow-stubs: text}.

    Args:
      names: {public name: (module, attribute, the statement that defines it)}.
      op_functions: {(module, attribute): function} of the ops that are functions by themselves.
    """
    members: dict = {"": {}}
    for name, definition in names.items():
        if name.startswith(("python.", "core.")) or ".python." in name:
            continue
        parts = name.split(".")
        for i in range(1, len(parts)):
            members.setdefault(".".join(parts[:i]), {})
        members[".".join(parts[:-1])][parts[-1]] = definition
    found = {}
    for namespace, own in members.items():
        children = [name for name in members if name and name.rpartition(".")[0] == namespace]
        lines = [_line(name, definition, op_functions) for name, definition in sorted(own.items())]
        lines += [f"from . import {child.rpartition('.')[2]} as {child.rpartition('.')[2]}" for child in children]
        path = f"{namespace.replace('.', '/')}/__init__.pyi".lstrip("/")
        found[path] = _PREFIX + "\n".join(sorted(lines, key=lambda line: not line.startswith("from "))) + "\n"
    found["py.typed"] = "partial\n"
    return found


def _line(name, definition, op_functions):
    module, attribute, node = definition
    if not attribute:
        package, _, last = f"stillflow.{module}".rstrip(".").rpartition(".")
        return f"from {package} import {last} as {name}" if package else f"import stillflow as {name}"
    function = op_functions.get((module, attribute))
    if function is not None:
        return _function(name, _parameters_of(inspect.signature(function)), inspect.getdoc(function))
    if isinstance(node, ast.FunctionDef):
        return _function(name, _parameters(node.args), ast.get_docstring(node))
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id != attribute:
        return f"{name}: Any"  # made when it is asked for
    return f"from stillflow.{module} import {attribute} as {name}"


def _function(name, parameters, doc):
    first = (doc or "").split("\n")[0].replace("\\", "\\\\").replace('"', "'")
    return f'def {name}({parameters}) -> Any:\n    """{first}"""'


def _default(node):
    return ast.unparse(node) if isinstance(node, ast.Constant) else "..."


def _parameters(arguments):
    """The parameters of a function without annotations, with defaults that are more than constants left out."""
    found = []
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(positional, defaults, strict=True):
        found.append(argument.arg + ("" if default is None else f"={_default(default)}"))
    if arguments.vararg:
        found.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        found.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(argument.arg + ("" if default is None else f"={_default(default)}"))
    if arguments.kwarg:
        found.append(f"**{arguments.kwarg.arg}")
    return ", ".join(found)


def _parameters_of(signature):
    found = []
    for parameter in signature.parameters.values():
        if parameter.default is parameter.empty:
            found.append(parameter.name)
        else:
            is_plain = isinstance(parameter.default, (bool, int, float, str, type(None)))
            found.append(f"{parameter.name}={parameter.default!r}" if is_plain else f"{parameter.name}=...")
    return ", ".join(found)
