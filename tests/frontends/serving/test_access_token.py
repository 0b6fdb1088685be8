import os
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput, StorageFailed
from memory_bank.frontends.serving.endpoint import read_token


def test_a_token_is_made_once_for_the_user_alone(private_folders: Path) -> None:
    first = read_token()
    assert first.made
    assert first.file == private_folders / "state" / "memory-bank" / "http-token"
    assert first.file.stat().st_mode & 0o777 == 0o600
    assert len(first.value) >= 43
    second = read_token()
    assert (second.value, second.made) == (first.value, False)
    assert first.value.decode() not in repr(first)


def test_many_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPool(8) as pool:
        found = pool.map(lambda _: read_token(tmp_path / "new" / "secret").value, range(8))
    assert len(set(found)) == 1
    assert os.listdir(tmp_path / "new") == ["secret"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = read_token(tmp_path / "secret").file
    file.chmod(mode)
    with pytest.raises(BadInput, match="others can read"):
        read_token(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    file = read_token(tmp_path / "secret").file
    os.chown(file, 12345, 12345)
    with pytest.raises(BadInput, match="somebody else"):
        read_token(file)


@pytest.mark.parametrize(
    "text", ["", "short", "two words of a sentence", "ü" * 20, "a" * 20 + "\x00"]
)
def test_what_could_be_no_secret_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secret"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(BadInput, match="has no token"):
        read_token(file)


def test_a_folder_is_no_token(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        read_token(tmp_path)
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageFailed):
        read_token(tmp_path / "lost")
