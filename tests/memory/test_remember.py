import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, BadName, NoteExists
from memory_bank.memory.change import rewrite, set_status
from memory_bank.memory.create import create
from memory_bank.memory.edit import append, edit, update
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import parse_entity, remember, session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes, show
from memory_bank.notes.decision_records import next_number
from memory_bank.notes.identity import normalise
from memory_bank.notes.note import Entity
from tests.support import forked


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


def notes(bank: Bank) -> list[str]:
    root = bank.layout.root
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))


def test_a_new_content_becomes_a_note(bank: Bank) -> None:
    content = "We chose Tantivy.\n\nIt is fast."
    found = remember(bank, content, tags=[" Search ", "b", "SEARCH"], type="decision")
    assert found.schema_version == "1.0"
    assert found.action == "created"
    assert found.content_hash == blake3(normalise(content).encode()).hexdigest()
    assert found.tags == ("search", "b")
    assert (found.type, found.source_type) == ("decision", "manual")
    assert found.path == "decisions/we-chose-tantivy.md"
    expected_id = blake3((content + found.created_at).encode()).hexdigest()[:12]
    assert found.note_id == expected_id
    shown = show(bank, found.path)
    assert shown.body.strip() == content
    assert (shown.note_id, shown.etag, shown.meta.tags) == (
        found.note_id,
        found.etag,
        ("search", "b"),
    )
    assert shown.meta.status == "active"


def test_a_decision_gets_the_next_number_where_decisions_have_numbers(bank: Bank) -> None:
    folder = bank.layout.root / "decisions"
    folder.mkdir(exist_ok=True)
    (folder / "0009-use-git.md").write_text("# Use git\n")
    assert remember(bank, "Cache 404s.", type="decision").path == "decisions/cache-404s.md"
    for number in range(30, 42):
        (folder / f"00{number}-use-it.md").write_text(f"# Use it {number} times\n")
    (folder / "README.md").write_text("# Decisions\n")
    found = remember(bank, "404 pages are cached.", type="decision")
    assert found.path == "decisions/0042-404-pages-are-cached.md"
    assert remember(bank, "404 pages are cached.", type="decision").path == found.path
    assert remember(bank, "ADR-7: Use C", type="decision").path == "decisions/adr-7-use-c.md"
    assert remember(bank, "Dogs bark.").path == "facts/dogs-bark.md"
    named = remember(bank, "We use Go.", type="decision", name="decisions/go")
    assert named.path == "decisions/go.md"
    next_one = remember(bank, "We use Zig.", type="decision").path
    assert next_one == "decisions/0043-we-use-zig.md"


@pytest.mark.parametrize(
    ("stems", "begins"),
    [
        ([], ""),
        (["0001-a"], ""),
        (["0001-a", "b", "c", "0002-d"], ""),
        (["0001-a", "0002-b", "template", "index"], "0003-"),
        (["ADR-9-a", "ADR-10-b", "c"], "ADR-11-"),
        (["adr_0099_a", "adr_0100_b"], "adr_0101_"),
        (["999-a", "998-b"], "1000-"),
        (["2026-01-02-a", "2026-01-03-b"], ""),
    ],
)
def test_the_number_has_the_form_of_the_last_one(stems: list[str], begins: str) -> None:
    assert next_number(stems) == begins


def test_the_same_content_updates_its_note(bank: Bank) -> None:
    first = remember(bank, "The kestrel hovers.", tags=["birds"])
    before = show(bank, first.path)
    again = remember(bank, "\r\nThe kestrel hovers.  \r\n\n", tags=["Birds", "Field"])
    assert again.action == "updated_existing"
    assert (again.path, again.note_id, again.content_hash) == (
        first.path,
        first.note_id,
        first.content_hash,
    )
    assert again.tags == ("birds", "field")
    assert again.created_at == first.created_at
    after = show(bank, first.path)
    assert after.meta.tags == ("birds", "field")
    assert after.access_count == before.access_count + 1
    assert after.updated_at >= after.created_at
    assert "updated_at" not in after.content
    assert len(notes(bank)) == 1


@pytest.mark.parametrize("head", ["", "created_at: 2020-01-01\n", "updated_at: 2020-01-01\n"])
def test_a_repeated_remember_is_answered_as_an_update_and_writes_no_byte(
    bank: Bank, folder: Path, head: str
) -> None:
    (folder / "mine.md").write_text(f"---\ntags: [a]\n{head}---\nThe hobby glides.\n")
    os.utime(folder / "mine.md", (1e9, 1e9))
    before, bytes_before = show(bank, "mine"), (folder / "mine.md").read_bytes()
    stamp = (folder / "mine.md").stat().st_mtime_ns
    start = datetime.now(UTC).replace(microsecond=0)
    assert remember(bank, "The hobby glides.", tags=["a"]).path == "mine.md"
    after = show(bank, "mine")
    assert before.updated_at < after.updated_at
    assert datetime.fromisoformat(after.updated_at) >= start
    assert after.access_count == before.access_count + 1
    assert (folder / "mine.md").read_bytes() == bytes_before
    assert (folder / "mine.md").stat().st_mtime_ns == stamp
    assert recall(bank, "hobby", since=start).result_count == 1
    bank.rebuild()
    assert show(bank, "mine").updated_at == after.updated_at


def test_when_a_note_without_an_id_was_written_goes_with_its_new_name(
    bank: Bank, folder: Path
) -> None:
    (folder / "mine.md").write_text("---\nupdated: 2020-01-01\n---\nThe hobby glides.\n")
    remember(bank, "The hobby glides.")
    known = show(bank, "mine").updated_at
    assert rename(bank, "mine", "yours").path == "yours.md"
    assert show(bank, "yours").updated_at == known > "2020-01-01"


def test_an_update_keeps_what_a_person_wrote(bank: Bank, folder: Path) -> None:
    text = "---\n# mine\nown:   'x'   # stays\ntags: [a]\n---\nThe osprey dives.\r\n"
    (folder / "mine.md").write_bytes(text.encode())
    assert remember(bank, "The osprey dives.", tags=["b"]).path == "mine.md"
    now = (folder / "mine.md").read_bytes().decode()
    assert "# mine\nown:   'x'   # stays\n" in now
    assert now.endswith("---\nThe osprey dives.\r\n")
    assert show(bank, "mine").meta.tags == ("a", "b")


def test_an_archived_twin_is_left_alone(bank: Bank) -> None:
    first = remember(bank, "The merlin chases.")
    set_status(bank, first.path, "archived")
    again = remember(bank, "The merlin chases.")
    assert again.action == "created"
    assert again.path != first.path


@pytest.mark.parametrize(
    "content",
    [
        "---\nlooks: like\n---\nfront matter",
        "---",
        "--- \n\ntext",
        "+++\na = 1\n+++\n",
        "\ufefftext with a mark",
        "\n\n\n# Late\n",
        "trailing\n\n\n\n",
        "lone\rreturns\rhere",
        "e\u0301 decomposed",
        "ends with spaces   ",
        "   indented",
        "```\nopen fence",
        "a\u2028\u2029\x85\x0cb",
        "x" * 50_000,
        "日本語",
        "- [ ] task\n- [[link]]",
        "...",
        "key: value",
    ],
)
def test_any_content_is_kept_and_known_again(bank: Bank, content: str) -> None:
    first = remember(bank, content)
    assert normalise(show(bank, first.path).body) == normalise(content)
    again = remember(bank, content)
    assert (again.action, again.path) == ("updated_existing", first.path)
    third = remember(bank, content)
    assert (third.action, third.path) == ("updated_existing", first.path)
    assert normalise(show(bank, first.path).body) == normalise(content)
    assert len(notes(bank)) == 1


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"content": text}, "content must not be empty") for text in ("", " ", "\n\t\n", "\u3000")),
    *(({"content": text}, ".") for text in ("a\0b", "a\ud800b")),
    *(({"tags": ["a", tag]}, ".") for tag in ("", " ", "#", " # ")),
    *(({"name": name}, ".") for name in ("../out", "/etc/x", ".git/x", "a\0", "nul", "a?b", "x" * 400)),
    *(({"type": kind}, "no word") for kind in ("a decision", "fact; rm", "a/b", "*", "x" * 50, "--type")),
    ({"source_type": "robot"}, "robot"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=lambda one: ascii(one)[:40])
def test_what_no_note_can_have_is_refused(bank: Bank, given: dict[str, Any], said: str) -> None:
    with pytest.raises((BadInput, BadName), match=said):
        remember(bank, **{"content": "Bread wants time.", **given})
    if "type" in given:
        with pytest.raises(BadInput, match=said):
            create(bank, "bread", "Bread wants time.", **given)
    assert notes(bank) == []


def test_a_name_of_ones_own_is_taken_once(bank: Bank) -> None:
    assert remember(bank, "one", name="deep/own").path == "deep/own.md"
    for name in ("deep/own", "deep/own.md", "Deep/Own"):
        with pytest.raises(NoteExists):
            remember(bank, "two", name=name)
    assert notes(bank) == ["deep/own.md"]


def test_names_that_are_taken_are_counted_on(bank: Bank) -> None:
    paths = [remember(bank, f"Same words. {number}").path for number in range(3)]
    assert paths == ["facts/same-words.md", "facts/same-words-2.md", "facts/same-words-3.md"]


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("# Über die Fähre!\n\ntext", "facts/über-die-fähre.md"),
        ("日本語の文。続き", "facts/日本語の文-続き.md"),
        ("???\n\nwords", "facts/words.md"),
        ("!!!", "facts/note.md"),
        ("con", "facts/note-con.md"),
        ("- a list item", "facts/a-list-item.md"),
        ("One two three four five six seven", "facts/one-two-three-four-five.md"),
        ("Straightforward reimplementation of serialisation", "facts/straightforward-reimplementation-of.md"),
        (f"Con {'a' * 50}", "facts/note-con.md"),
        ("a" * 50, f"facts/{'a' * 40}.md"),
        ("語" * 60, f"facts/{'語' * 40}.md"),
    ],
)  # fmt: skip
def test_a_note_is_named_by_its_first_words_in_any_script(
    bank: Bank, content: str, path: str
) -> None:
    assert remember(bank, content).path == path


def test_a_number_and_the_start_of_an_id_are_part_of_the_length_of_a_name(
    git: Callable[..., str], project: Path
) -> None:
    git(project, "branch", "other")
    for number in (1, 2, 3):
        (project / f".memories/decisions/000{number}-a.md").write_text(f"# Decision {number}\n")
    with open_bank(project) as bank:
        path = remember(bank, "Abcdefgh Abcdefgh Abcdefgh Abcdefgh!", type="decision").path
    assert re.fullmatch(r"decisions/0004-abcdefgh-abcdefgh-abcdefgh-[0-9a-f]{4}\.md", path)


@pytest.mark.parametrize(
    ("kind", "place"), [("decision", "decisions"), ("journal", "journal"), ("my_type", "my-type")]
)
def test_a_type_has_its_folder(bank: Bank, kind: str, place: str) -> None:
    assert remember(bank, "text", type=kind).path == f"{place}/text.md"
    assert list_notes(bank, type=kind).result_count == 1


def test_references_are_written_and_found(bank: Bank, folder: Path) -> None:
    remember(
        bank,
        "The index is built here.",
        name="a",
        file_refs=["src/index.py"],
        symbol_refs=["build_index"],
        entity_refs=[{"kind": "person", "id": "Sarah Connor"}, "ticket:7", Entity("clause", "4")],
        source_type="agent",
        source_agent="tester",
    )
    note = recall(bank, "index").notes[0]
    assert note.meta.file_refs == ("src/index.py",)
    assert note.meta.symbol_refs == ("build_index",)
    assert note.meta.source_type == "agent"
    assert recall(bank, "links:src/index.py").result_count == 1
    assert note.meta.entity_refs == (
        Entity("person", "Sarah Connor"), Entity("ticket", "7"), Entity("clause", "4"),
    )  # fmt: skip
    assert note.meta.entity_refs == show(bank, "a").meta.entity_refs
    assert recall(bank, "Connor").result_count == 1
    text = (folder / "a.md").read_text()
    assert "source_agent: tester" in text


def test_an_entity_needs_a_kind_and_a_name() -> None:
    assert parse_entity(" clause : 4: b ") == Entity("clause", "4: b")
    for text in ("", "x", ":x", "x:", " : "):
        with pytest.raises(BadInput):
            parse_entity(text)
    for fields in ({}, {"kind": "person"}, {"kind": "", "id": "x"}, {"kind": [], "id": "x"}):
        with pytest.raises(BadInput):
            parse_entity(fields)


@pytest.mark.parametrize("source", ["manual", "agent", "session", "import"])
def test_a_note_says_its_source(bank: Bank, source: str) -> None:
    assert remember(bank, "text", name="a", source_type=source).source_type == source
    assert show(bank, "a").meta.source_type == source


def test_a_twin_without_an_id_is_named_by_its_path(bank: Bank, folder: Path) -> None:
    (folder / "by-hand.md").write_text("Same words.\n")
    done = remember(bank, "Same words.")
    assert (done.action, done.note_id) == ("updated_existing", "by-hand.md")


def test_only_keys_that_say_something_are_written(bank: Bank, folder: Path) -> None:
    remember(bank, "text", name="a")
    keys = [
        line.partition(":")[0] for line in (folder / "a.md").read_text().split("---")[1].split("\n")
    ]
    assert [key for key in keys if key][:3] == ["id", "type", "created_at"]
    assert not {"tags", "file_refs", "symbol_refs", "entity_refs", "source_agent", "title"} & set(
        keys
    )


def test_dates_are_of_today(bank: Bank) -> None:
    created = datetime.fromisoformat(remember(bank, "text").created_at)
    assert abs((datetime.now(UTC) - created).total_seconds()) < 60


def test_threads_that_remember_the_same_make_one_note(bank: Bank) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda n: remember(bank, "One thing.", tags=[f"t{n}"]), range(6)))
    assert len(notes(bank)) == 1
    assert sorted(one.action for one in found) == ["created", *["updated_existing"] * 5]
    assert set(show(bank, found[0].path).meta.tags) == {f"t{number}" for number in range(6)}


REMEMBERING = """
import sys
from memory_bank.bank.bank import open_bank
from memory_bank.memory.remember import remember
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    bank.catch_up()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(5):
        remember(bank, f"Thing {number} that is known.")
"""


def test_processes_that_remember_the_same_make_one_note(
    bank: Bank, ending: Callable[..., Any]
) -> None:
    words = [sys.executable, "-c", REMEMBERING, str(bank.layout.root)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [ending(forked.Popen(words, **pipes)) for _ in range(3)]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate()
        assert process.returncode == 0
    assert len(notes(bank)) == 5


def test_an_agents_note_above_100_kb_is_refused_and_a_persons_is_not(bank: Bank) -> None:
    pasted = "A line of a log.\n" * 6_000
    with pytest.raises(BadInput, match="102,000 bytes") as refused:
        remember(bank, pasted, source_type="agent")
    assert "your own words" in (refused.value.hint or "")
    path = remember(bank, "Bread wants time.", name="bread").path
    with pytest.raises(BadInput, match="too large"):
        append(bank, path, pasted, agent="claude-code")
    assert append(bank, path, pasted).path == path
    assert remember(bank, pasted).action == "created"


def test_what_is_private_is_in_no_note_and_no_name(bank: Bank) -> None:
    done = remember(bank, "Keys <private>of Mr Zywicki</private> are uuid7. `<private>` hides.")
    assert bank.store.read(done.path).text.endswith(
        "Keys [private] are uuid7. `<private>` hides.\n"
    )
    assert "zywicki" not in done.path
    append(bank, done.path, "Ask <Private>Zywicki\n\nor me</private >.")
    edit(bank, done.path, "uuid<private>Zywicki</private>", old="uuid7")
    update(bank, done.path, bank.store.read(done.path).text + "<private>Zywicki</private>")
    rewrite(bank, done.path, bank.store.read(done.path).text + "<private>Zywicki</private>")
    session_note(bank, "Only <private>Zywicki</private> knows the pond.")
    texts = [path.read_text() for path in bank.layout.root.rglob("*.md")]
    texts += [path.read_text() for path in bank.layout.state(bank.id).rglob("*.md")]
    assert len(texts) == 2
    assert not any("zywicki" in text.lower() for text in texts)
    with pytest.raises(BadInput, match="not closed"):
        remember(bank, "The tag <private> hides what stands in it")


@pytest.mark.parametrize(
    ("link", "warning"),
    [
        ("[[pond]]", None),
        ("[[pond#Depth]]", None),
        ("[[person:anna]]", None),
        ("`bank.find()` and [[Bank.find]]", None),
        ("https://example.org/[x]", None),
        ("[[pond#Width]]", "line {}: pond.md has no heading 'Width'"),
        ("[[pnod/at-all]]", "line {}: 'pnod/at-all' leads to no note or file"),
        ("[it](no%20note.md)", "line {}: 'no note.md' leads to no note or file"),
    ],
)
def test_a_link_that_leads_nowhere_is_told_when_it_is_written(
    bank: Bank, link: str, warning: str | None
) -> None:
    create(bank, "pond", "# Pond\n\n## Depth\n\nTwo metres.\n")
    done = remember(bank, f"The frogs moved, see {link} for more.")
    line = next(
        number
        for number, row in enumerate(bank.store.read(done.path).text.splitlines(), 1)
        if "frogs" in row
    )
    assert done.warning == (warning and warning.format(line))
    assert append(bank, "pond", "No link here.").warning is None
    told = append(bank, "pond", f"And {link}").warning
    assert (told or "").partition(": ")[2] == (warning or "").partition(": ")[2]
