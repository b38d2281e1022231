"""Guards: under which conditions a node runs and a value is there.

A guard is a frozenset of Conditions that must all hold, without those that others in it imply; ALWAYS is the empty
one. Conditions are decided while a program runs, by the node that has them among its `conditions`.
"""

from __future__ import annotations

ALWAYS: frozenset = frozenset()


class Condition:
    """One way that a run may go: an outcome of a predicate, or that one of several branches was taken."""

    __slots__ = ("implied", "is_placed", "opposite", "predicate", "ways", "within")

    def __init__(self, within, is_placed=False, predicate=None):
        self.within = within  # the guard under which it is decided at all
        self.predicate = predicate  # the value of which it is an outcome
        self.is_placed = is_placed  # whether the place of a node decides it, as in a loop, and not a node before
        self.implied = within.union(*(condition.implied for condition in within))
        self.opposite: Condition | None = None  # the other outcome of the same predicate
        self.ways: tuple = ()  # both outcomes: false, true


def both_ways(within, is_placed=False, predicate=None):
    """The conditions that a predicate under this guard is false, and that it is true."""
    ways = Condition(within, is_placed, predicate), Condition(within, is_placed, predicate)
    ways[0].opposite, ways[1].opposite = ways[1], ways[0]
    ways[0].ways = ways[1].ways = ways
    return ways


def joined(guards):
    """The guard of what needs all of these."""
    guards = {guard for guard in guards if guard}
    if not guards:
        return ALWAYS
    if len(guards) == 1:
        return guards.pop()
    everything = frozenset().union(*guards)
    return everything.difference(*(condition.implied for condition in everything))


def implies(guard, other):
    """Whether `other` holds whenever `guard` does."""
    return not other or other <= guard or all(c in guard or any(c in d.implied for d in guard) for c in other)


def alternatives(guards):
    """The guard of what needs any of these, where that is a guard; otherwise None.

    It is so if one of them holds whenever the others do, and for the two outcomes of one predicate.
    """
    for guard in guards:
        if all(implies(other, guard) for other in guards):
            return guard
    if len(guards) != 2:
        return None
    first, second = guards
    for condition in first:
        if condition.opposite is not None and condition.opposite in second:
            rest = joined([first - {condition}, condition.within])
            if rest == joined([second - {condition.opposite}, condition.within]):
                return rest
    return None


def common(guards):
    """What all of several guards imply."""
    sets = [guard.union(*(condition.implied for condition in guard)) for guard in guards]
    return joined([frozenset({condition}) for condition in frozenset.intersection(*sets)])


def to_be_checked(guard):
    """What of a guard has to be looked at when a node is reached."""
    if not any(condition.is_placed for condition in guard):
        return guard
    return joined([to_be_checked(c.within) if c.is_placed else frozenset({c}) for c in guard])


def is_in_loop(guard):
    return any(c.is_placed or any(outer.is_placed for outer in c.implied) for c in guard)


def known_outcome(guard, predicate):
    """The condition on `predicate` that holds whenever the guard does, or None."""
    for condition in guard.union(*(condition.implied for condition in guard)):
        if condition.predicate is predicate:
            return condition
    return None
