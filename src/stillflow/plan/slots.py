"""slots: where the values of a plan lie. A slot is free again after the last reader of its value.

In a loop that is so for what is computed in a round and needed in the same round only. What comes from outside stays
until the loop is over, and what is still there when a round ends is released there.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Step:
    inputs: list  # slots
    outputs: list
    dying: int  # bit i: nothing reads input i afterwards
    releases: list  # slots to empty afterwards


@dataclass(slots=True)
class _Span:
    """A loop: the indices of the nodes that make it one."""

    enter: int = 0
    test: int = 0
    next: int = 0
    end: int = 0

    def has_in_round(self, index):
        return self.enter < index <= self.next


@dataclass(slots=True)
class _Uses:
    """What a value's readers say of it."""

    made: int  # the index of the node that makes it; -1 for feeds
    last: int  # the index after which it is not needed any more
    leftovers: list = field(default_factory=list)  # indices where it may be left over, though not in its last


class Slots:
    """Which slot each value lies in, and the steps in terms of slots.

    Slots that are not reused hold one value each, for steps that do not run in order.
    """

    def __init__(self, plan, reuses=True):
        self._reuses = reuses
        self.of: dict = {}
        self.permanent: dict = {}
        self.count = 0
        self.steps = []
        self._free: list = []
        self._lasting = set(plan.fetch_values)
        spans = _spans(plan)
        self._uses = _uses(plan, spans)
        self._ending: dict = {}  # index -> values that loops end with
        self._left_over: dict = {}  # index -> values that may be left over
        if spans:
            self._note_ends()
        for value in plan.feed_values:
            self._assign(value)
        for index, node in enumerate(plan.nodes):
            self.steps.append(self._step(index, node))
        for value in plan.fetch_values:
            if value not in self.of:
                self._assign_permanent(value)

    def _note_ends(self):
        for value, uses in self._uses.items():
            if value.constant is None:
                self._ending.setdefault(uses.last, []).append(value)
                for index in uses.leftovers:
                    self._left_over.setdefault(index, []).append(value)

    def _assign(self, value):
        self.of[value] = self._take()

    def _take(self):
        if self._free:
            return self._free.pop()
        self.count += 1
        return self.count - 1

    def _assign_permanent(self, value):
        self.of[value] = self.permanent[value] = self.count
        self.count += 1

    def _step(self, index, node):
        for value in node.inputs:
            if value not in self.of:  # a constant or a variable, met for the first time
                self._assign_permanent(value)
        # What is known of several outputs is read from a slot of its own, also where this node does not run.
        unread: dict = {}
        for value in node.outputs:
            if value.constant is None:
                self._assign(value)
            else:
                unread[value] = self._take()
        dying = 0
        ending: list = []
        for position, value in enumerate(node.inputs):
            if value in self.permanent or value in self._lasting or self._uses[value].last != index:
                continue
            if value not in ending:
                ending.append(value)
            if position < 64 and node.inputs.count(value) == 1:
                dying |= 1 << position
        ending.extend(
            value
            for value in node.outputs
            if value not in unread and value not in self._uses and value not in self._lasting
        )
        for value in self._ending.get(index, ()):
            if value not in ending and value not in self.permanent and value not in self._lasting:
                ending.append(value)
        made = node.attrs["variables"] if node.type == "_LoopNext" else node.outputs
        inputs, releases = ([self.of[v] for v in values] for values in (node.inputs, ending))
        outputs = [unread[v] if v in unread else self.of[v] for v in made]
        releases += unread.values()
        if self._reuses:
            self._free.extend(releases)
        left_over = [self.of[value] for value in self._left_over.get(index, ()) if value not in self.permanent]
        return Step(inputs, outputs, dying, releases + left_over)


_FIELDS = {"_LoopEnter": "enter", "_LoopTest": "test", "_LoopNext": "next", "_LoopEnd": "end"}


def _spans(plan):
    """The loops of a plan, outer ones before those inside."""
    found: dict = {}
    for index, node in enumerate(plan.nodes):
        if node.type in _FIELDS:
            setattr(found.setdefault(node.attrs["loop"], _Span()), _FIELDS[node.type], index)
    return list(found.values())


def _uses(plan, spans):
    """{value that is read: its uses}."""
    found: dict = {}
    made: dict = {}
    for index, node in enumerate(plan.nodes):
        if spans:
            made.update(dict.fromkeys(node.outputs, index))
        read = [*node.inputs, *node.attrs["variables"]] if node.type == "_LoopNext" else node.inputs
        for value in read:
            uses = found.get(value)
            if uses is None:
                uses = found[value] = _Uses(made.get(value, -1), index)
            uses.last = max(uses.last, _last_need(uses.made, index, spans))
    for uses in found.values():
        for span in spans:
            if span.has_in_round(uses.made):
                if uses.made < span.test < uses.last <= span.next:
                    uses.leftovers.append(span.end)  # the test has led past the reader
                elif uses.last > span.next:
                    uses.leftovers.append(span.next)  # and the next round makes it anew
    return found


def _last_need(made, index, spans):
    """When a value is needed for the last time that is made at one index and read at another."""
    for span in spans:
        if span.has_in_round(index) and not span.has_in_round(made):
            return span.end  # any round may be the last
    return index
