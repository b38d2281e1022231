"""for over data sets in functions that tf.autograph has converted: reductions of the data set."""

from __future__ import annotations

import builtins

from stillflow import ops
from stillflow.autograph.operators.builtins import OVERLOADS
from stillflow.autograph.operators.loops import register_iterable
from stillflow.graph.mode import by_mode, eager_version_of


def install(dataset_class, zip_):
    """Says how converted functions go through data sets of a class."""
    register_iterable(dataset_class, go_through)
    OVERLOADS[dataset_class] = {
        builtins.enumerate: lambda dataset, start: dataset.enumerate(start),
        builtins.zip: zip_,
    }


def install_iterator(iterator_class):
    """Says that converted functions do not go through iterators of a class."""
    register_iterable(iterator_class, go_through_iterator)


@by_mode
def go_through(dataset, extra_test, body, state):
    """Calls body(element) in the function of a reduction."""
    before = state.checked()
    if extra_test is not None:
        raise NotImplementedError(
            "break, and return, are not supported in loops over data sets of functions that are converted; use "
            "dataset.take, dataset.filter or tf.data.experimental.take_while."
        )
    start = before or (ops.constant(0),)

    def reduce_body(values, element):
        def step():
            body(element)

        if not before:
            step()
            return values
        return state.after(values, step, include_shapes=False)

    final = dataset.reduce(start, reduce_body)
    if before:
        state.set(final)


@by_mode
def go_through_iterator(iterator, extra_test, body, state):
    """Raises NotImplementedError: each round would have to ask whether there is another element."""
    raise NotImplementedError(
        "Loops over iterators are not supported in functions that become part of a graph; go through the data set."
    )


@eager_version_of(go_through)
@eager_version_of(go_through_iterator)
def go_through_eagerly(iterated, extra_test, body, state):
    """Calls body(element) for the elements."""
    for element in iterated:
        if extra_test is not None and not extra_test():
            return
        body(element)
