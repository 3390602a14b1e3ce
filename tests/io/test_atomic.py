import os
import stat
from pathlib import Path

import pytest

from modeclust.io.atomic import in_a_line, remove_parts, unused_name, written


def test_appears_only_when_complete(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with written(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert len(list(tmp_path.iterdir())) == 2
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(28, "full")])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def interrupted():
        with written(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(type(error)):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_of_the_disk_names_the_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OSError, match=r"No space left on device: .*a\.bin"),
        written(tmp_path / "a.bin") as file,
    ):
        file.write(b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.posix
def test_modes_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with written(tmp_path / "a.bin"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) == 0o640


@pytest.mark.posix
def test_follows_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a.bin")
    with written(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.bin").read_bytes() == b"new"


def test_places_where_no_file_can_be(tmp_path):
    absent = tmp_path / "absent" / "a.bin"
    with pytest.raises(FileNotFoundError, match=r"absent/a\.bin"), written(absent):
        pass
    with pytest.raises(IsADirectoryError), written(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), written(tmp_path / "file" / "a.bin"):
        pass
    with pytest.raises(OSError, match="Not a regular file"), written(os.devnull):
        pass
    assert not Path(os.devnull).is_file()


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("a" * 255)
    with written(path):
        pass
    assert path.exists()


@pytest.mark.posix
def test_what_a_killed_process_left_can_be_removed(tmp_path):
    path = tmp_path / "[a]"
    (tmp_path / "link").symlink_to(path)
    others = [tmp_path / "link", unused_name(tmp_path / "b"), tmp_path / ".modeclust-.part"]
    for left in (*others[1:], unused_name(path), unused_name(path)):
        left.touch()
    remove_parts(tmp_path / "link")
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_one_that_writes_on_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(FileNotFoundError, match="/a'"), written(path):
        remove_parts(path)
    assert path.read_bytes() == b"old"


def test_what_another_library_says_is_told_in_a_line():
    assert in_a_line(ValueError("one\ntwo")) == "one"
    assert in_a_line(KeyError()) == "KeyError"
    assert len(in_a_line(ValueError("x" * 10_000))) < 300
