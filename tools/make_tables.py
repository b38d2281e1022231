"""Writes what the package knows of itself: run by the build, which installs the results beside the sources.

    python tools/make_tables.py OUT      # src/stillflow -> OUT/names/table.py, OUT/ops/contents.py, stubs

Everything is read from the sources, without importing them:

names/table.py      {public name: "module:attribute"}, from the marks of stillflow.names
ops/contents.py     which module declares an op type, and which offers a builder
*.pyi               stubs of `stillflow` and its namespaces, with the real signatures
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "stillflow"


def module_name(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def sources():
    return [path for path in sorted(SOURCE.rglob("*.py"))]


# ---- Marks --------------------------------------------------------------------------------------------------


def marks_of(tree):
    """(public name, attribute or "", the statement that defines it) for each mark in a module."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                for name in called("public", decorator):
                    yield name, node.name, node
        elif isinstance(node, ast.Assign):
            yield from _marks_of_assignment(node)
        elif isinstance(node, ast.Expr):
            for name in called("public_module", node.value):
                yield name, "", node


def called(function, node):
    """The strings that a call of the function has as arguments."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
        return [argument.value for argument in node.args]
    return []


def _marks_of_assignment(node):
    """X = public("x")(value), X = define_op(..., public="x y"), NAMES = public_names({...})."""
    value, target = node.value, node.targets[0]
    if not isinstance(value, ast.Call):
        return
    for name in called("public", value.func):
        yield name, target.id, node
    if isinstance(value.func, ast.Name) and value.func.id == "public_names":
        for attribute, names in ast.literal_eval(value.args[0]).items():
            for name in names.split():
                yield name, attribute, node
    for keyword in value.keywords:
        if keyword.arg == "public":
            for name in ast.literal_eval(keyword.value).split():
                yield name, target.id, node


def public_names():
    """{public name: (module, attribute, statement)}. Raises ValueError for a name that is marked twice."""
    found = {}
    for path in sources():
        for name, attribute, node in marks_of(ast.parse(path.read_text(), str(path))):
            if name in found:
                raise ValueError(f"tf.{name} is marked in {found[name][0]} and in {module_name(path)}")
            found[name] = module_name(path), attribute, node
    return found


def table_text(names):
    lines = [
        '"""{public name: "module:attribute"}, made from the marks in the sources by tools/make_tables.py."""',
        "",
    ]
    lines += ["NAMES = {"]
    lines += [f'    "{name}": "{module}:{attribute}",' for name, (module, attribute, _) in sorted(names.items())]
    return "\n".join([*lines, "}", ""])


def write(path, text):
    """Writes a file unless it is so already, so that nothing is built anew for nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(out):
    write(out / "names" / "table.py", table_text(public_names()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
