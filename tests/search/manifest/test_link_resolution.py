"""Which note a link means, and that it stays right as notes come and go."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.search.manifest import link_rows
from tests.search.views import view_of
from tests.support.files import write_files as put

Opening = Callable[..., Bank]


def leads(bank: Bank) -> dict[str, list[str]]:
    """Map each note to where its links lead: a path, `ghost:` and a name, or `?`."""
    bank.catch_up()
    found: dict[str, list[str]] = {}
    for row in link_rows.all_links(view_of(bank).manifest):
        goal = "?" if row.ambiguous else row.dest_key or f"ghost:{row.ghost}"
        found.setdefault(row.source_key, []).append(goal)
    return found


NAMES = (
        "[[facts/bm25]]", "[[facts/bm25.md]]", "[[bm25]]", "[[BM25]]", "[[Okapi]]", "[[The title]]",
        "[[4f1c9be07a52]]", "[[ facts/bm25 ]]", "[[bm25|shown]]", "[[bm25#Part]]", "[[bm25^b]]",
        "![[bm25]]", "[x](../facts/bm25.md)", "[x](<../facts/bm25.md>)", "[x](../facts/BM25.md)",
        "[[../facts/bm25]]", "[[/facts/bm25]]", "[x](facts/bm25.md)", "[[the  TITLE]]",
)  # fmt: skip


def test_a_link_means_a_note_by_any_of_its_names(folder: Path, opening: Opening) -> None:
    text = "---\nid: 4f1c9be07a52\naliases: [Okapi]\ntitle: The title\n---\ntext ^b\n\n# Part\n"
    links = {f"d/{number}.md": link for number, link in enumerate(NAMES)}
    put(folder, {"facts/bm25.md": text, **links, "other.md": "x"})
    found = leads(opening(folder))
    assert {link: found.get(path) for path, link in links.items()} == {
        link: ["facts/bm25.md"] for link in NAMES
    }
    assert found.keys() == links.keys()


def test_of_a_name_that_ends_like_a_file_one_suffix_is_dropped(
    folder: Path, opening: Opening
) -> None:
    put(folder, {"a.md": "---\naliases: [foo.md.md, '']\n---\n", "b.md": "[[foo.md.md]] [[foo]]"})
    assert leads(opening(folder)) == {"b.md": ["a.md", "ghost:foo"]}


GHOSTS = {
    "[[src/server.py]]": "src/server.py",
    "[[Person Name]]": "Person Name",
    "[x](../../src/a.py)": "src/a.py",
    "[[../../src/a.py]]": "src/a.py",
    "[[../src/a.py]]": ".memories/src/a.py",
    "[[./a.py]]": ".memories/d/a.py",
    "[[nothing/yet]]": "nothing/yet",
    "[x](../../../out.md)": "../../../out.md",
}


def test_what_no_note_answers_is_a_ghost_named_from_the_project(
    tmp_path: Path, opening: Opening
) -> None:
    root = tmp_path / ".memories"
    put(root, {f"d/n{number}.md": link for number, link in enumerate(GHOSTS)})
    assert leads(opening(root)) == {
        f"d/n{number}.md": [f"ghost:{ghost}"] for number, ghost in enumerate(GHOSTS.values())
    }


def test_a_path_is_stronger_than_a_file_name_and_that_than_an_alias(
    folder: Path, opening: Opening
) -> None:
    put(
        folder,
        {
            "x.md": "root",
            "d/x.md": "deep",
            "d/y.md": "---\naliases: [x, z]\ntitle: w\n---\n",
            "e/z.md": "---\ntitle: w\n---\n",
            "a.md": "[[x]] [[d/x]] [[z]] [[y]] [[w]] [[./x]] [[d/../x]]",
        },
    )
    assert leads(opening(folder)) == {
        "a.md": ["x.md", "d/x.md", "e/z.md", "d/y.md", "?", "x.md", "x.md"]
    }


def test_a_relative_link_prefers_its_own_folder(folder: Path, opening: Opening) -> None:
    put(folder, {"x.md": "1", "d/x.md": "2", "d/a.md": "[x](x.md) [y](./x.md) [z](/x.md) [[./x]]"})
    assert leads(opening(folder)) == {"d/a.md": ["d/x.md", "d/x.md", "x.md", "d/x.md"]}


def test_composed_and_decomposed_names_are_one(folder: Path, opening: Opening) -> None:
    decomposed = unicodedata.normalize("NFD", "Fähre")
    put(
        folder,
        {f"{decomposed}.md": "x", "a.md": "[[Fähre]] [[fähre]]", "b.md": f"[[{decomposed}]]"},
    )
    goal = f"{decomposed}.md"
    assert leads(opening(folder)) == {"a.md": [goal, goal], "b.md": [goal]}


def test_links_follow_as_notes_come_change_and_go(folder: Path, opening: Opening) -> None:
    bank = opening(folder)
    put(folder, {"a.md": "[[x]]"})
    assert leads(bank) == {"a.md": ["ghost:x"]}
    put(folder, {"d/x.md": "1"})
    assert leads(bank) == {"a.md": ["d/x.md"]}
    put(folder, {"e/x.md": "2"})
    assert leads(bank) == {"a.md": ["?"]}
    put(folder, {"x.md": "3"})
    assert leads(bank) == {"a.md": ["x.md"]}
    (folder / "x.md").unlink()
    (folder / "d/x.md").rename(folder / "d/y.md")
    assert leads(bank) == {"a.md": ["e/x.md"]}
    (folder / "e/x.md").write_bytes(b"now binary \0")
    assert leads(bank) == {"a.md": ["ghost:x"]}
    put(folder, {"d/y.md": "---\ntitle: X\n---\n"})
    assert leads(bank) == {"a.md": ["d/y.md"]}
    put(folder, {"d/y.md": "no title"})
    assert leads(bank) == {"a.md": ["ghost:x"]}


def test_a_note_may_link_to_itself(folder: Path, opening: Opening) -> None:
    put(folder, {"a.md": "[[a]] [[#Part]] [x](#part)\n\n# Part\n"})
    assert set(leads(opening(folder))["a.md"]) == {"a.md"}


def test_a_name_brings_those_that_look_like_it(folder: Path, opening: Opening) -> None:
    text = "---\naliases: [Full-text search]\n---\nx\n"
    put(folder, {"decisions/tantivy.md": text, "whoosh.md": "x"})
    (folder / "full-text-serch.md").write_bytes(b"\0")  # not indexed: nothing to suggest
    bank = opening(folder)
    bank.catch_up()
    assert open_index.find_similar_names(view_of(bank).manifest, "tantivi") == ["decisions/tantivy"]
    assert open_index.find_similar_names(view_of(bank).manifest, "full text serch") == [
        "decisions/tantivy"
    ]
    assert open_index.find_similar_names(view_of(bank).manifest, "zzzzzz") == []


def test_what_is_no_text_is_no_name(folder: Path, opening: Opening) -> None:
    put(folder, {"a.md": "x"})
    bank = opening(folder)
    bank.catch_up()
    assert open_index.find_candidates(view_of(bank).manifest, "\ud800") == []
    assert open_index.find_candidates(view_of(bank).manifest, "a") == ["a.md"]


FILE_REFS = {
    "Makefile": "ghost:Makefile",
    "./Makefile": "ghost:Makefile",
    "README.md": "ghost:README.md",
    "docs/guide.md": "ghost:docs/guide.md",
    ".memories/README.md": "README.md",
    "only.md": "only.md",
    "facts/only": "ghost:facts/only",
}


def test_a_file_ref_is_a_path_from_the_project_before_it_is_one_from_the_bank(
    tmp_path: Path, opening: Opening
) -> None:
    twins = {"README.md": "twin", "docs/guide.md": "twin"}
    put(tmp_path, {"Makefile": "all:\n", **twins})
    notes = {"makefile.md": "x", "only.md": "x", "facts/only.md": "x", **twins}
    refs = {
        f"d/n{number}.md": f"---\nfile_refs: [{ref}]\n---\nx\n"
        for number, ref in enumerate(FILE_REFS)
    }
    put(tmp_path / ".memories", {**notes, **refs})
    assert leads(opening(tmp_path / ".memories")) == {
        path: [goal] for path, goal in zip(refs, FILE_REFS.values(), strict=True)
    }


RECORDS = {
    "decisions/0021-queue.md": "# Q\n", "decisions/adr-019-pay.md": "# P\n",
    "2026-01-05-met.md": "# M\n", "10-things.md": "# T\n", "facts/the-script-bd92.md": "# S\n",
}  # fmt: skip


def test_a_decision_record_is_found_by_its_number(folder: Path, opening: Opening) -> None:
    links = "[[ADR-19]] [[adr 0021]] [[ADR-10]] [[ADR-2026]] [[21]]"
    put(folder, {**RECORDS, "a.md": links})
    bank = opening(folder)
    goals = ["decisions/adr-019-pay.md", "decisions/0021-queue.md"]
    assert leads(bank)["a.md"] == [*goals, "ghost:ADR-10", "ghost:ADR-2026", "ghost:21"]
    assert [bank.find(name) for name in ("021", "21", "adr-21", "ADR_0019")] == [
        *["decisions/0021-queue.md"] * 3,
        "decisions/adr-019-pay.md",
    ]
    put(folder, {"other/0021-mail.md": "# Mail\n"})
    assert leads(bank)["a.md"][:2] == ["decisions/adr-019-pay.md", "?"]
    with pytest.raises(NoteNotFound, match="2 notes") as error:
        bank.find("021")
    assert "other/0021-mail.md" in str(error.value.hint)


def test_a_note_is_found_without_the_start_of_an_id_in_its_name(
    folder: Path, opening: Opening
) -> None:
    put(folder, RECORDS)
    bank = opening(folder)
    for name in ("the-script", "facts/the-script", "the-script.md", "the"):
        assert bank.find(name) == "facts/the-script-bd92.md"
    for name in ("script", "0021-quack"):
        with pytest.raises(NoteNotFound):
            bank.find(name)
    put(folder, {"the-script-ab12.md": "# Other\n"})
    with pytest.raises(NoteNotFound, match="2 notes"):
        bank.find("the-script")


def test_of_several_that_supersede_a_note_the_newest_is_named(
    folder: Path, opening: Opening
) -> None:
    heads = {
        name: f"---\ncreated_at: 2026-01-0{day}\n---\n"
        for name, day in (("x", 1), ("b", 9), ("a", 9))
    }
    put(folder, {f"{name}.md": f"{head}supersedes:: [[old]]\n" for name, head in heads.items()})
    put(folder, {"old.md": "# Old\n"})
    bank = opening(folder)
    bank.catch_up()
    base = view_of(bank).manifest
    old, newest = (open_index.note_at(base, name).number for name in ("old.md", "a.md"))  # type: ignore[union-attr]
    assert link_rows.map_superseded(base, [old]) == {old: (newest, "a.md")}
