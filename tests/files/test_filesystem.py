"""Removing files: at once for everybody, also where the blocks take their time."""

import os
import threading
import types

import pytest

from stillflow.files import filesystem


def large_file(path):
    with open(path, "wb") as file:
        file.truncate(filesystem._LARGE_FILE)


@pytest.fixture
def slow_close(monkeypatch):
    """Files that are removed stay open until the event is set."""
    event = threading.Event()
    close = os.close

    def wait_and_close(handle):
        event.wait(20)
        close(handle)

    monkeypatch.setattr(filesystem.os, "close", wait_and_close)
    yield event
    event.set()


def free_space(monkeypatch, size):
    monkeypatch.setattr(filesystem.shutil, "disk_usage", lambda path: types.SimpleNamespace(free=size))


def test_a_large_file_is_gone_at_once(tmp_path, slow_close, monkeypatch):
    path = tmp_path / "large"
    large_file(path)
    os.link(path, tmp_path / "link")
    filesystem.LOCAL.remove(str(path))
    assert not path.exists()
    assert (tmp_path / "link").stat().st_size == filesystem._LARGE_FILE
    free_space(monkeypatch, 1 << 50)
    filesystem.finish_removals(str(tmp_path))  # there is room enough
    assert filesystem._removals[-1][0].is_alive()


def test_what_needs_the_space_waits_for_it(tmp_path, slow_close, monkeypatch):
    large_file(tmp_path / "large")
    filesystem.LOCAL.remove(str(tmp_path / "large"))
    free_space(monkeypatch, filesystem._LARGE_FILE)
    threading.Timer(0.2, slow_close.set).start()
    filesystem.finish_removals(str(tmp_path))
    assert not filesystem._removals[-1][0].is_alive()


def test_what_cannot_be_removed(tmp_path):
    with pytest.raises(FileNotFoundError):
        filesystem.LOCAL.remove(str(tmp_path / "none"))
    with pytest.raises(OSError):
        filesystem.LOCAL.remove(str(tmp_path))
