"""Which kernels run: those that STILLFLOW_ISA names, if the processor runs them and they were built."""

import pytest

from stillflow import _engine
from stillflow.session import isa


def test_a_set_that_no_machine_has_is_refused():
    with pytest.raises(
        ValueError, match=r"Instruction set 'sse9' is not one of .*baseline.*, which this machine has"
    ):
        isa.kernels("sse9")


def test_the_environment_names_a_set(monkeypatch):
    worst = isa.supported()[-1]
    monkeypatch.setenv("STILLFLOW_ISA", worst)
    assert isa.kernels.__wrapped__() is isa.kernels(worst)


def test_an_installation_for_one_machine_says_what_it_has(monkeypatch, tmp_path):
    best, *others = _engine.supported_isas()
    (tmp_path / f"_kernels_{best}.so").touch()
    monkeypatch.setattr(isa, "_DIRECTORY", tmp_path)
    assert isa.supported() == isa.built() == [best]
    for other in others:
        with pytest.raises(ValueError, match=rf"{other!r} was not built: .* has kernels for {best} \(make test"):
            isa.kernels.__wrapped__(other)


def test_an_installation_for_another_machine_is_refused(monkeypatch, tmp_path):
    (tmp_path / "_kernels_sse9.so").touch()
    monkeypatch.setattr(isa, "_DIRECTORY", tmp_path)
    monkeypatch.delenv("STILLFLOW_ISA", raising=False)
    isa.kernels.cache_clear()
    with pytest.raises(ValueError, match="was not built: .* has kernels for sse9"):
        isa.kernels()
    isa.kernels.cache_clear()
