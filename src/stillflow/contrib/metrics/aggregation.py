"""Several metrics at once: their values and their updates."""

from __future__ import annotations

from stillflow.names import public


@public("contrib.metrics.aggregate_metrics")
def aggregate_metrics(*value_update_tuples):
    """(a list of values, a list of updates) of some (value, update) pairs. Raises ValueError for none."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


@public("contrib.metrics.aggregate_metric_map")
def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update}) of {name: (value, update)}."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}
