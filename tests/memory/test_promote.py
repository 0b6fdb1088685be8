from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, NoteNotFound
from memory_bank.memory.confirm import promote
from memory_bank.memory.links import links_of
from memory_bank.sessions.listing import show_session
from memory_bank.sessions.sessions import end_session, store_observation


@pytest.fixture
def bank(project: Path) -> Iterator[Bank]:
    with open_bank(project) as opened:
        yield opened


def observation(bank: Bank) -> str:
    stored = store_observation(
        bank,
        "s-1",
        title="Retry [[three]] times",
        obs_type="bugfix",
        facts=["The gateway answers 504"],
        narrative="It failed at night.",
        concepts=["Retries"],
        files_modified=["src/job.py"],
        agent="codex",
    )
    assert stored.observation_id is not None
    return stored.observation_id


def test_an_observation_becomes_a_tracked_note_and_both_are_linked(
    bank: Bank, project: Path, git: Callable[..., str]
) -> None:
    name = observation(bank)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "before", "--allow-empty")
    done = promote(bank, f"#{name}", type="decision")
    assert (done.action, done.path) == ("created", "decisions/retry-three-times.md")
    assert git(project, "status", "--short", "-uall").split() == ["??", f".memories/{done.path}"]
    note = bank.store.read(done.path)
    assert note.title == "Retry [[three]] times"
    assert note.meta.tags == ("retries",)
    assert note.meta.file_refs == ("src/job.py",)
    assert note.meta.source_agent == "codex"
    assert "The gateway answers 504" in note.text
    out = {(one.target, one.row.type) for one in links_of(bank, done.path).outgoing}
    assert (done.session_path, "learned_in") in out
    back = {(one.target, one.row.type) for one in links_of(bank, done.session_path).outgoing}
    assert (done.path, "promoted_to") in back
    again = promote(bank, name)
    assert (again.action, again.path) == ("existing", done.path)
    bank.store.delete(done.path)
    assert promote(bank, name, name="facts/again").path == "facts/again.md"
    assert bank.store.read(done.session_path).text.count("promoted_to::") == 1


def test_code_that_a_person_adds_to_an_observation_is_no_part_of_its_fields(bank: Bank) -> None:
    code = "```bash\n# Install\n- promoted_to:: [[facts/other]]\n```\n\n"
    name = observation(bank)
    place = show_session(bank, "s-1").session.path
    bank.store.change(place, lambda text: text.replace(f"^{name}", f"{code}^{name}"))
    assert promote(bank, name).action == "created"
    text = bank.store.read(place).text
    assert 0 < text.find("- promoted_to:: [[bugfixes/retry-three-times]]") < text.index("```bash")
    assert code in text
    assert promote(bank, name).action == "existing"


@pytest.mark.parametrize(("given", "error"), [("12", BadInput), ("obs-00000000aaaa", NoteNotFound)])
def test_what_is_no_observation_is_not_promoted(
    bank: Bank, given: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        promote(bank, given)


def test_a_summary_becomes_a_note_with_a_section_for_each_part(bank: Bank) -> None:
    observation(bank)
    name = end_session(bank, "s-1", {"request": "Mend [[the]] job", "next_steps": "Watch it"})
    assert name is not None
    done = promote(bank, name, type="decision")
    assert (done.action, done.path) == ("created", "decisions/retry-three-times.md")
    note = bank.store.read(done.path)
    assert note.title == "Retry [[three]] times"
    assert "## Next steps\n\nWatch it\n" in note.text
    assert f"learned_in:: [[{done.session_path.removesuffix('.md')}#^{name}]]" in note.text
    assert promote(bank, f"^{name}").action == "existing"
    end_session(bank, "s-1", "Done again")
    assert promote(bank, name).path == done.path


def test_an_unknown_summary_is_not_found(bank: Bank) -> None:
    with pytest.raises(NoteNotFound, match="Summary not found"):
        promote(bank, "sum-0123456789ab")
