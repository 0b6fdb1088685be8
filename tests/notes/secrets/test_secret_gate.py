"""A write that adds a secret is refused at every door, and its value is told nowhere."""

import random
import string
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import SecretFound
from memory_bank.memory.change import set_status
from memory_bank.memory.create import create
from memory_bank.memory.edit import append, edit, update
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.trash import delete, restore
from memory_bank.notes.secrets import secrets
from memory_bank.review.doctor import doctor

_RNG = random.Random(11)
SECRET = "gh" + "p_" + "".join(_RNG.choices(string.ascii_letters + string.digits, k=36))
OTHER = "sk" + "_live_" + "".join(_RNG.choices(string.ascii_letters + string.digits, k=24))


@pytest.fixture
def bank(project: Path) -> Bank:
    """Open the bank of a project."""
    return open_bank(project)


def bytes_below(folder: Path) -> bytes:
    """Return all bytes of a folder's files, .git left out."""
    return b"".join(
        file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and ".git" not in file.parts
    )


DOORS: dict[str, Callable[[Bank, str], object]] = {
    "remember": remember,
    "remember with a tag": lambda bank, text: remember(bank, "A note", tags=[text]),
    "remember with a file": lambda bank, text: remember(bank, "A note", file_refs=[text]),
    "remember with a symbol": lambda bank, text: remember(bank, "A note", symbol_refs=[text]),
    "remember with an entity": lambda bank, text: remember(bank, "A", entity_refs=[f"key:{text}"]),
    "remember under a name": lambda bank, text: remember(bank, "A note", name=f"facts/{text}"),
    "session note": session_note,
    "create": lambda bank, text: create(bank, "facts/new", text),
    "create with front matter": lambda bank, text: create(
        bank, "facts/new", f"---\ncustom: {text}\n---\nBody"
    ),
    "append": lambda bank, text: append(bank, "facts/old", text),
    "update": lambda bank, text: update(bank, "facts/old", text),
    "edit": lambda bank, text: edit(bank, "facts/old", text, old="nine"),
    "edit of a section": lambda bank, text: edit(bank, "facts/old", text, section="Ports"),
    "merge": lambda bank, text: merge(bank, ["facts/old"], "facts/new", text),
    "merge into a source": lambda bank, text: merge(bank, ["facts/old"], "facts/old", text),
    "rename": lambda bank, text: rename(bank, "facts/old", f"facts/{text}"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_secret_is_refused_at_every_door_and_leaves_no_trace(door: str, bank: Bank) -> None:
    create(bank, "facts/old", "# Ports\n\nWorker nine listens on 8080.")
    before = {file: file.read_bytes() for file in bank.layout.root.rglob("*.md") if file.is_file()}
    with pytest.raises(SecretFound) as caught:
        DOORS[door](bank, SECRET)
    error = caught.value
    assert error.code == "secret_found"
    assert "GitHub token" in error.message
    assert SECRET not in error.message + error.hint + repr(error) + repr(vars(error))
    assert SECRET not in "".join(traceback.format_exception(error))
    bank.close()
    assert SECRET.encode() not in bytes_below(bank.layout.root)
    after = {file: file.read_bytes() for file in bank.layout.root.rglob("*.md") if file.is_file()}
    assert after == before


def test_the_line_is_that_of_the_text_which_was_given(bank: Bank) -> None:
    create(bank, "facts/old", "one\n\ntwo\n\nthree")
    for write in (
        lambda: remember(bank, f"one\ntwo\n{SECRET}"),
        lambda: append(bank, "facts/old", f"one\ntwo\n{SECRET}"),
    ):
        with pytest.raises(SecretFound, match=r"GitHub token \(line 3\)"):
            write()


def test_several_secrets_are_told_together(bank: Bank) -> None:
    with pytest.raises(SecretFound) as caught:
        remember(bank, f"{SECRET}\n\n{OTHER}")
    assert "GitHub token (line 1), Stripe key (line 3)" in caught.value.message
    for value in (SECRET, OTHER):
        assert secrets.fingerprint(value) in caught.value.hint


def test_a_secret_that_was_there_before_blocks_no_other_edit(bank: Bank) -> None:
    (bank.layout.root / "old.md").write_text(f"# Old\n\nThe token is {SECRET}\n\nport 8080\n")
    edit(bank, "old", "8081", old="8080")
    append(bank, "old", f"As said, {SECRET} is to be rotated.")
    set_status(bank, "old", "archived")
    rename(bank, "old", "facts/older")
    merge(bank, ["facts/older"], "facts/one", f"One note, with {SECRET}")
    delete(bank, "facts/one")
    restore(bank, "facts/one")
    with pytest.raises(SecretFound, match="Stripe key"):
        append(bank, "facts/one", OTHER)


def test_a_secret_can_be_taken_out(bank: Bank) -> None:
    (bank.layout.root / "old.md").write_text(f"The token is {SECRET}\n")
    edit(bank, "old", "in the vault", old=SECRET)
    assert SECRET.encode() not in (bank.layout.root / "old.md").read_bytes()


def test_the_allow_list_of_the_settings_names_the_hash_that_the_error_tells(bank: Bank) -> None:
    with pytest.raises(SecretFound) as caught:
        remember(bank, SECRET)
    line = caught.value.hint.partition("[secrets] ")[2]
    (bank.layout.root / "config.toml").write_text(f"[secrets]\n{line}\n")
    with open_bank(bank.layout.root) as again:
        remember(again, SECRET)
        assert "secret" not in {one.rule for one in doctor(again).findings}
        with pytest.raises(SecretFound):
            remember(again, OTHER)


def test_a_program_may_allow_all(bank: Bank) -> None:
    with open_bank(bank.layout.root, allow_secrets=True) as again:
        assert remember(again, SECRET).action == "created"


def test_doctor_lists_secrets_by_kind_and_line_and_never_their_value(bank: Bank) -> None:
    (bank.layout.root / "old.md").write_text(f"# Old\n\nThe token is {SECRET}\n")
    health = doctor(bank)
    (found,) = (one for one in health.findings if one.rule == "secret")
    mark = secrets.fingerprint(SECRET)
    assert (found.path, found.line, found.hash) == ("old.md", 3, mark)
    assert found.message == f"GitHub token (hash {mark})"
    assert not health.healthy
    assert SECRET not in repr(health)
