"""A note with its links resolved, and the list in which it is found."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory import note_view, overview
from memory_bank.memory.confirm import promote
from memory_bank.sessions.sessions import store_observation


def write(project: Path, **texts: str) -> None:
    for name, text in texts.items():
        (project / f".memories/{name}.md").write_text(text)


def test_links_lead_to_notes_files_symbols_and_ghosts(bank: Bank, project: Path) -> None:
    write(
        project,
        a="# A\n\n[[facts/bm25|words]] [[b#Part]] [[b^x]] [[src/index.py]] [i](../src/index.py#L1)"
        " [[symbol:build_index]] [[person:Ada]] [[clause:4.2]] [[nobody]] [[b#Nothing]] ![[b]] [[https://example.org]]\n",
        b="# B\n\n## Part\n\ntext ^x\n",
    )
    goals = note_view.view_note(bank, "a").goals
    goal, words = goals.wiki("facts/bm25|words")
    assert goal is not None
    assert (goal.kind, goal.name, goal.title, words) == ("note", "facts/bm25.md", "BM25", "words")
    found = {name: goals.wiki(name)[0] for name in ("b#Part", "b^x", "b", "b#Nothing")}
    assert {name: one and (one.heading, one.block) for name, one in found.items()} == {
        "b#Part": ("Part", ""),
        "b^x": ("", "x"),
        "b": ("", ""),
        "b#Nothing": ("Nothing", ""),
    }
    broken = found["b#Nothing"]
    assert broken is not None
    assert "no heading" in broken.problem
    kinds = [
        one and one.kind
        for one in (
            goals.wiki("src/index.py")[0],
            goals.markdown("../src/index.py", "L1"),
            goals.wiki("symbol:build_index")[0],
            goals.wiki("person:Ada")[0],
            goals.wiki("clause:4.2")[0],
            goals.wiki("nobody")[0],
        )
    ]
    assert kinds == ["file", "file", "symbol", "name", "name", "ghost"]
    assert goals.wiki("https://example.org")[0] is None
    assert goals.markdown("https://example.org", "") is None


def test_a_view_has_backlinks_front_matter_and_the_successor(bank: Bank, project: Path) -> None:
    write(
        project,
        old="---\ntype: decision\ntags: [x, y]\nnested: {a: 1}\nverified_commit: abc\n---\n# Old\n",
        new="---\nsupersedes: '[[old]]'\n---\n# New\n\nBetter than [[old]], by far.\n",
        gone="---\nstatus: archived\n---\n# Gone\n\nAs [[old]].\n",
    )
    old, new = note_view.view_note(bank, "old"), note_view.view_note(bank, "new")
    assert old.superseded_by is not None
    assert (old.superseded_by.path, old.superseded_by.title) == ("new.md", "New")
    assert [(note.path, note.title) for note in new.supersedes] == [("old.md", "Old")]
    assert dict(old.keys)["tags"] == "x, y"
    assert dict(old.keys)["nested"] == '{"a": 1}'
    assert old.verified == "abc"
    assert [(row.key, row.hidden) for row, _ in old.backlinks] == [
        ("new.md", False),
        ("gone.md", True),
    ]
    assert any("Better than" in link.context for link in old.backlinks[0][1])
    with pytest.raises(NoteNotFound):
        note_view.view_note(bank, "nothing")


def test_a_session_has_its_observations_and_what_was_made_of_them(bank: Bank) -> None:
    first, second = (
        store_observation(bank, "s-1", title=title, obs_type="bugfix").observation_id
        for title in ("Retry", "Wait")
    )
    assert first is not None
    made = promote(bank, first)
    found = note_view.view_note(bank, made.session_path).observations
    assert [one[:2] for one in found] == [(first, "Retry"), (second, "Wait")]
    assert [goal and goal.name for _, _, goal in found] == [made.path, None]


def test_notes_are_browsed_by_folder_type_tag_and_what_they_name(bank: Bank, project: Path) -> None:
    write(
        project,
        a="---\ntype: plan\ntags: [t]\nfile_refs: [src/index.py]\n---\n# A\n",
        b="---\ntype: plan\nstatus: archived\n---\n# B\n",
    )
    every = overview.browse(bank)
    assert every.total == len(every.notes) == 4
    assert every.folders == {"decisions": 2, "facts": 1}
    assert every.types["plan"] == 2
    assert overview.browse(bank, archived=True).total == 5
    for chosen in ({"type": "plan"}, {"tag": "t"}, {"type": "plan", "tag": "t"}):
        assert [one.path for one in overview.browse(bank, **chosen).notes] == ["a.md"]  # type: ignore[arg-type]
    assert "a.md" in [one.path for one in overview.browse(bank, cites="src/index.py").notes]
    inside = overview.browse(bank, folder="decisions")
    assert (inside.total, inside.folders) == (2, {})
    pages = [overview.browse(bank, offset=at, limit=3) for at in (0, 3, 6)]
    assert [len(one.notes) for one in pages] == [3, 1, 0]
    assert [one for page in pages for one in page.notes] == list(every.notes)
