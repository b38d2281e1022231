"""Spectrograms, cepstral coefficients and what else is recorded of small ops."""

import pytest
from recorded_values import assert_same, cases, evaluate


@pytest.mark.parametrize(("case", "expected"), cases("audio"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected, rtol=2e-5, atol=2e-6)
