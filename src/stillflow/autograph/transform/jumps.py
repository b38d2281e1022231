"""break, continue and return become variables that say what not to do anymore."""

from __future__ import annotations

import ast

from stillflow.autograph.transform.expressions import call, thunk
from stillflow.autograph.transform.names import blocks, contains

_LOOPS = (ast.For, ast.While)


def _assign(name, value, at):
    target = ast.Name(name, ast.Store())
    return ast.copy_location(ast.Assign([target], value, lineno=at.lineno), at)


def _flag(name, value, at):
    return _assign(name, ast.Constant(value), at)


def _unless(name):
    return ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load()))


def _guarded(name, statements, at):
    return ast.copy_location(ast.If(_unless(name), statements, []), at)


def _add_test(loop, name):
    """Makes a loop end when a variable is true."""
    if isinstance(loop, ast.While):
        loop.test = ast.copy_location(call("loop_test", thunk(loop.test), thunk(_unless(name))), loop.test)
    else:
        test = getattr(loop, "extra_test", None)
        new = ast.copy_location(_unless(name), loop)
        loop.extra_test = new if test is None else ast.copy_location(ast.BoolOp(ast.And(), [new, test]), loop)


# ---- break and continue ---------------------------------------------------------------------------------------


def lower_loop_jumps(statements, namer):
    """The statements without break and continue."""
    lowered: list = []
    for statement in statements:
        for block in blocks(statement):
            block[:] = lower_loop_jumps(block, namer)
        if isinstance(statement, _LOOPS):
            lowered.extend(_lower_loop(statement, namer))
        else:
            lowered.append(statement)
    return lowered


def _lower_loop(loop, namer):
    after: list = []
    before: list = []
    if contains(loop.body, ast.Break, through_loops=False):
        name = namer.new("break_")
        before.append(_flag(name, False, loop))
        loop.body = _replaced(loop.body, ast.Break, name)
        _add_test(loop, name)
        if loop.orelse:
            after.append(_guarded(name, loop.orelse, loop))
            loop.orelse = []
    if contains(loop.body, ast.Continue, through_loops=False):
        name = namer.new("continue_")
        loop.body = [_flag(name, False, loop), *_replaced(loop.body, ast.Continue, name)]
    after = [*loop.orelse, *after]
    loop.orelse = []
    return [*before, loop, *after]


def _replaced(statements, kind, name):
    """The statements with a variable set to true for each statement of `kind`, after which nothing is done."""
    for i, statement in enumerate(statements):
        if isinstance(statement, kind):
            return [*statements[:i], _flag(name, True, statement)]
        if not contains([statement], kind, through_loops=False):
            continue
        rest = statements[i + 1 :]
        inner = [statement.orelse] if isinstance(statement, _LOOPS) else blocks(statement)
        for block in inner:
            block[:] = _replaced(block, kind, name)
        if isinstance(statement, ast.Try) and statement.orelse:
            statement.orelse = [_guarded(name, statement.orelse, statement)]
        done = statements[: i + 1]
        return [*done, _guarded(name, _replaced(rest, kind, name), rest[0])] if rest else done
    return statements


# ---- return ---------------------------------------------------------------------------------------------------


def lower_returns(function, namer):
    """Makes a function return at its end alone, if it has returns inside of other statements."""
    body = function.body
    if not any(contains(block, ast.Return) for statement in body for block in blocks(statement)):
        for i, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                function.body = body[: i + 1]
                break
        return
    returns = _Returns(namer.new("do_return"), namer.new("retval_"))
    first = body[0]
    result = call("retval", ast.Name(returns.value, ast.Load()))
    function.body = [
        _flag(returns.flag, False, first),
        _assign(returns.value, call("UndefinedReturnValue"), first),
        *returns.lower(body),
        ast.copy_location(ast.Return(result), body[-1]),
    ]


class _Returns:
    def __init__(self, flag, value):
        self.flag = flag
        self.value = value

    def lower(self, statements):
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                value = ast.Constant(None) if statement.value is None else statement.value
                return [
                    *statements[:i], _flag(self.flag, True, statement), _assign(self.value, value, statement)
                ]  # fmt: skip
            if contains([statement], ast.Return):
                return [*statements[:i], *self._lower_compound(statement, statements[i + 1 :])]
        return statements

    def _lower_compound(self, statement, rest):
        if isinstance(statement, ast.If):
            # What comes after a branch that returns belongs to the other one, so that both give a value.
            if _returns(statement.body):
                statement.orelse = [*statement.orelse, *rest]
                rest = []
            elif _returns(statement.orelse):
                statement.body = [*statement.body, *rest]
                rest = []
        for block in blocks(statement):
            block[:] = self.lower(block)
        if isinstance(statement, _LOOPS):
            _add_test(statement, self.flag)
        if isinstance(statement, ast.Try) and statement.orelse:
            statement.orelse = [_guarded(self.flag, statement.orelse, statement)]
        return [statement, _guarded(self.flag, self.lower(rest), rest[0])] if rest else [statement]


def _returns(statements):
    """Whether statements return in any case."""
    for statement in statements:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and _returns(statement.body) and _returns(statement.orelse):
            return True
        if isinstance(statement, ast.With) and _returns(statement.body):
            return True
    return False
