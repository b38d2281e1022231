"""tf.config.threading: how many threads sessions use that are made without a ConfigProto."""

from __future__ import annotations

from stillflow.session.process_settings import settings as _settings


def get_intra_op_parallelism_threads():
    """How many threads share the work of an operation; 0 for one per processor."""
    return _settings.intra_op_threads


def set_intra_op_parallelism_threads(num_threads):
    """Says how many threads share the work of an operation, in sessions to come; 0 for one per processor.

    Raises ValueError for a negative number.
    """
    _settings.intra_op_threads = _checked(num_threads)


def get_inter_op_parallelism_threads():
    """The number that was set."""
    return _settings.inter_op_threads


def set_inter_op_parallelism_threads(num_threads):
    """Accepted: operations run one after the other here, so that their order is always the same.

    Raises ValueError for a negative number.
    """
    _settings.inter_op_threads = _checked(num_threads)


def _checked(num_threads):
    if num_threads < 0:
        raise ValueError(f"num_threads must not be negative, but is {num_threads}")
    return int(num_threads)
