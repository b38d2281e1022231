"""Which names statements bind, and which they read."""

from __future__ import annotations

import ast
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def blocks(statement):
    """The lists of statements inside of a statement that is no function or class."""
    if not isinstance(statement, ast.stmt) or isinstance(statement, SCOPES):
        return []
    found = [getattr(statement, field, None) for field in ("body", "orelse", "finalbody")]
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        found.append(part.body)
    return [block for block in found if block]


def contains(statements, kinds, through_loops=True):
    """Whether one of `kinds` is among the statements or inside of them, but not in functions and classes."""
    for statement in statements:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)) and not through_loops:
            if contains(statement.orelse, kinds, through_loops):
                return True
        elif any(contains(block, kinds, through_loops) for block in blocks(statement)):
            return True
    return False


class _Bound(ast.NodeVisitor):
    """Collects what statements bind, in one scope."""

    def __init__(self):
        self.names: set = set()
        self.attributes: set = set()  # "self.x"

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names.add(node.id)

    def visit_Attribute(self, node):
        if isinstance(node.ctx, ast.Store):
            path = attribute_path(node)
            if path is not None:
                self.attributes.add(path)
        self.visit(node.value)

    def visit_FunctionDef(self, node):
        self.names.add(node.name)
        for decorator in node.decorator_list:
            self.visit(decorator)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815
    visit_ClassDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node):
        pass

    def visit_comprehension(self, node):
        self.visit(node.iter)

    def visit_NamedExpr(self, node):
        self.names.add(node.target.id)
        self.visit(node.value)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.generic_visit(node)

    def visit_alias(self, node):
        self.names.add((node.asname or node.name).split(".")[0])

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node):
        if node.name:
            self.names.add(node.name)

    def visit_MatchMapping(self, node):
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)


def bound(*nodes):
    """(names, attributes such as "self.x") that statements or targets bind."""
    visitor = _Bound()
    for node in nodes:
        visitor.visit(node)
    return visitor.names, visitor.attributes


def attribute_path(node):
    """ "a.b.c" for attributes of a name, otherwise None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def reads(*nodes):
    """The names that nodes read, those that functions inside of them have from outside included."""
    found: set = set()
    for node in nodes:
        if node is not None:
            found |= _reads(node)
    return found


def _reads(node):
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, (ast.Load, ast.Del)) else set()
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        outer = reads(*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ()))
        inner: Any = node.body
        body = inner if isinstance(inner, list) else [inner]
        return outer | (reads(*body) - arguments(node.args) - (bound(*body)[0] - outer_names(body)))
    if isinstance(node, _COMPREHENSIONS):
        targets: set = set()
        for generator in node.generators:
            targets |= bound(generator.target)[0]
        return reads(*ast.iter_child_nodes(node)) - targets
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | reads(node.value)
    return reads(*ast.iter_child_nodes(node))


def outer_names(statements):
    """The names that statements declare to be global or nonlocal."""
    found: set = set()
    for statement in statements:
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            found.update(statement.names)
        for block in blocks(statement):
            found |= outer_names(block)
    return found


def arguments(args):
    """The names of a function's arguments."""
    found = {arg.arg for arg in (*getattr(args, "posonlyargs", ()), *args.args, *args.kwonlyargs)}
    return found | {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}


def all_names(tree):
    """All names that a tree has, of whatever kind."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return found | {node.name for node in ast.walk(tree) if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


class Namer:
    """Makes names that nothing has."""

    def __init__(self, used):
        self._used = set(used)

    def new(self, base):
        name, number = base, 0
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name
