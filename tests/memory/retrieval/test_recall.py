import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.change import set_status
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from tests.support.files import write_files

Opening = Callable[..., Bank]

LONG = "filler words of no meaning here. " * 2000
NOTES = {
    "decisions/tantivy.md": "---\nid: t1\ntype: decision\ntags: [search, words]\n"
    "created_at: 2026-01-10\nfile_refs: [src/index.py]\nsource_type: agent\nteam: core\n---\n"
    "# Tantivy over Whoosh\n\nIt is maintained.\n\n## Consequences\n\nBM25 ranking of kestrels.\n\n"
    "## Speed\n\nThe kestrel query takes a millisecond.\n",
    "decisions/whoosh.md": "---\ncreated_at: 2025-01-01\n---\n# Whoosh\n\nPure Python, with kestrels.\n",
    "new.md": "---\ncreated_at: 2025-06-01\n---\nsupersedes:: [[whoosh]]\n\nAbout Whoosh and kestrels.\n",
    "long.md": f"---\ncreated_at: 2025-01-01\n---\n# Long\n\n{LONG}\n\nThe capercaillie hides.\n\n{LONG}",
    "code.md": "---\ncreated_at: 2025-01-01\n---\nCall `parseHTTPRequest` in src/net/http_client.py.\n",
    "cjk.md": "---\ncreated_at: 2025-01-01\n---\n全文検索エンジンを選びました。\n",
    "empty-body.md": "---\ntitle: Wheatear\ncreated_at: 2025-01-01\n---\n",
}


@pytest.fixture
def bank(folder: Path, opening: Opening) -> Bank:
    write_files(folder, NOTES)
    return opening(folder)


def paths(bank: Bank, query: str, **options: object) -> list[str]:
    found = recall(bank, query, **options)  # type: ignore[arg-type]
    assert found.result_count == len(found.notes)
    return [note.path for note in found.notes]


def test_an_answer_says_all_that_it_should(bank: Bank, folder: Path) -> None:
    found = recall(bank, "maintained")
    assert (found.schema_version, found.query) == ("1.0", "maintained")
    assert (found.mode_used, found.fallback_reason) == ("lexical", "embeddings_disabled")
    assert found.problem is None
    note = found.notes[0]
    assert (note.note_id, note.path, note.meta.type) == ("t1", "decisions/tantivy.md", "decision")
    assert (note.title, note.heading) == ("Tantivy over Whoosh", "Tantivy over Whoosh")
    assert note.content == "# Tantivy over Whoosh\n\nIt is maintained."
    lines = (folder / note.path).read_text().splitlines()
    assert lines[note.line - 1] == "# Tantivy over Whoosh"
    assert "maintained" in note.snippet
    assert note.meta.tags == ("search", "words")
    assert (note.meta.file_refs, note.meta.symbol_refs) == (("src/index.py",), ())
    assert (note.meta.source_type, note.created_at) == ("agent", "2026-01-10T00:00:00Z")
    assert note.access_count == 0
    assert 0 < note.relevance_score <= 1
    assert note.reasons
    assert all(reason.source for reason in note.reasons)


def test_one_note_is_one_entry_with_its_best_section(bank: Bank) -> None:
    found = recall(bank, "kestrel query millisecond")
    note = found.notes[0]
    assert (note.path, note.heading) == ("decisions/tantivy.md", "Tantivy over Whoosh > Speed")
    assert [also.heading for also in note.also] == ["Tantivy over Whoosh > Consequences"]
    assert len({one.path for one in found.notes}) == found.result_count


def test_the_same_note_of_two_answers_is_one_in_a_set(bank: Bank, folder: Path) -> None:
    write_files(folder, {"lark.md": "---\nmood: glad\n---\nThe lark rises."})
    answers = [recall(bank, "lark rises", count_access=False) for _ in range(2)]
    assert len({note for answer in answers for note in answer.notes}) == len(answers[0].notes) > 0


def test_the_best_comes_first(bank: Bank) -> None:
    found = recall(bank, "kestrels ranking whoosh python")
    scores = [note.relevance_score for note in found.notes]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_nothing_in_a_long_note_is_unfindable(bank: Bank) -> None:
    note = recall(bank, "capercaillie").notes[0]
    assert note.path == "long.md"
    assert "capercaillie" in note.content
    assert "capercaillie" in note.snippet
    assert len(note.snippet) < 1000


def test_words_of_every_kind_find(bank: Bank) -> None:
    for query, path in (
        ("parse http request", "code.md"),
        ("parseHTTPRequest", "code.md"),
        ("http_client", "code.md"),
        ("src/net/http_client.py", "code.md"),
        ("全文検索", "cjk.md"),
        ("検索エンジン", "cjk.md"),
        ("Wheatear", "empty-body.md"),
        ("maintaining", "decisions/tantivy.md"),
        ("links:src/index.py", "decisions/tantivy.md"),
        ("team:core", "decisions/tantivy.md"),
        ("tag:words", "decisions/tantivy.md"),
    ):
        assert paths(bank, query)[0] == path, query


def test_any_text_is_a_query(bank: Bank) -> None:
    for query in (
        "", " ", "\0", "\ud800", "?!", '"', '"" ""', "-", "--", "-kestrel", "tag:", "since:never x",
        "AND", "a:b:c", "[[x]]", "(" * 500, "x" * 100_000, "\u202e\u200b", "in:../..", 'tag:"', "*:*",
        "path:x^2~3", "日", "SELECT * FROM documents; --",
    ):  # fmt: skip
        found = recall(bank, query)
        assert found.query == query
        assert found.result_count == len(found.notes)


@pytest.mark.parametrize(
    ("limit", "count"), [(-3, 1), (0, 1), (1, 1), (2, 2), (1000, 3), (None, 3)]
)
def test_a_limit_is_held_between_1_and_100(bank: Bank, limit: int | None, count: int) -> None:
    assert len(paths(bank, "kestrels", limit=limit)) == count


def test_more_than_100_are_never_returned(folder: Path, opening: Opening) -> None:
    for number in range(120):
        (folder / f"{number}.md").write_text("kestrel")
    bank = opening(folder)
    assert len(paths(bank, "kestrel", limit=1000)) == 100
    assert len(paths(bank, "kestrel")) == 10


def test_a_filter_applies_before_the_ranking(bank: Bank) -> None:
    assert paths(bank, "kestrels", limit=1, tags=["search"]) == ["decisions/tantivy.md"]
    assert paths(bank, "kestrels", tags=["search", "nothing"]) == []
    assert paths(bank, "kestrels", type="Decision") == ["decisions/tantivy.md"]
    assert paths(bank, "kestrels", since="2026-01-01") == ["decisions/tantivy.md"]
    assert set(paths(bank, "kestrels", before=datetime(2025, 7, 1, tzinfo=UTC))) == {
        "decisions/whoosh.md",
        "new.md",
    }
    assert set(paths(bank, "kestrels in:decisions")) == {
        "decisions/tantivy.md",
        "decisions/whoosh.md",
    }
    assert set(paths(bank, "kestrels -tag:search")) == {"decisions/whoosh.md", "new.md"}
    assert paths(bank, "kestrels -python -supersedes in:decisions") == ["decisions/tantivy.md"]


def test_if_all_words_find_nothing_any_word_may(bank: Bank) -> None:
    assert "decisions/tantivy.md" in paths(bank, "maintained zzzqqq")
    assert paths(bank, "zzzqqq") == []


def test_a_superseded_note_ranks_below_its_successor_and_says_so(bank: Bank) -> None:
    found = {note.path: (place, note) for place, note in enumerate(recall(bank, "whoosh").notes)}
    old_place, old = found["decisions/whoosh.md"]
    new_place, new = found["new.md"]
    assert new_place < old_place
    assert old.superseded_by == "new.md"
    assert new.superseded_by is None


@pytest.mark.parametrize("embedder", ["none", "static"])
def test_a_successor_that_does_not_match_is_not_raised(
    folder: Path, opening: Opening, embedder: str
) -> None:
    old = "# Servers are cattle not pets\n\nWe replace servers, we never mend them.\n"
    new = "# Platform\n\nsupersedes:: [[old]]\n\nA provider runs the machines for us now.\n"
    others = {f"other{n}.md": f"# Topic {n}\n\nMore words about release {n}.\n" for n in range(8)}
    write_files(folder, {"old.md": old, "new.md": new, **others})
    bank = opening(folder, memory__embedder=embedder)
    answer = recall(bank, "cattle not pets")
    assert answer.answered
    assert (answer.notes[0].path, answer.notes[0].superseded_by) == ("old.md", "new.md")
    assert not answer.notes[0].weak
    (folder / "other0.md").unlink()
    (folder / "new.md").write_text(new + "\nStill cattle, not pets.\n", encoding="utf-8")
    assert [note.path for note in recall(bank, "cattle not pets").notes][:2] == ["new.md", "old.md"]


def unrelated(folder: Path, number: int) -> None:
    words = ["paint", "brush", "canvas", "colour", "frame", "light", "shade", "easel", "wall"]
    for n in range(number):
        text = " ".join(words[(n * k) % len(words)] for k in range(1, 40))
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\n{text}\n", encoding="utf-8")


def test_a_small_bank_answers_what_its_note_says(folder: Path, opening: Opening) -> None:
    bank = opening(folder, memory__embedder="static")
    remember(bank, "We chose CozoDB because KuzuDB was archived", tags=["architecture", "graph"])
    for number in (0, 4, 9):
        unrelated(folder, number)
        answer = recall(bank, "graph database decision")
        assert answer.notes[0].path.startswith("facts/we-chose-cozodb")
        assert answer.answered is (number < 9)  # one word of three: among many a weak match


def test_of_a_bank_of_six_notes_is_said_that_nothing_answers(
    folder: Path, opening: Opening
) -> None:
    birds = (
        "The owl hunts at night, and rests in the old barn by day.",
        "The kestrel hovers above the meadow and hunts voles.",
        "The heron waits in shallow water.",
        "Swallows nest below the roof of the stable.",
        "Storks return to the chimney in March.",
        "The woodpecker taps at dead trees.",
    )
    for number, text in enumerate(birds):
        (folder / f"bird{number}.md").write_text(f"# Bird {number}\n\n{text}\n", encoding="utf-8")
    bank = opening(folder)
    assert recall(bank, "which bird hunts voles").answered
    answer = recall(bank, "what does a night in the hotel cost")
    assert answer.notes
    assert not answer.answered


def test_that_nothing_answers_is_said_with_and_without_conditions(
    folder: Path, opening: Opening
) -> None:
    unrelated(folder, 30)
    bank = opening(folder)
    question = "a wall against neutrons"
    answer = recall(bank, question)
    assert answer.notes
    assert not answer.answered
    assert all(note.weak for note in answer.notes)
    assert not recall(bank, f"{question} since:2000-01-01").answered
    assert recall(bank, "canvas colour").answered


def test_of_a_chain_of_successors_the_last_that_matches_comes_first(
    folder: Path, opening: Opening
) -> None:
    texts = {
        "a": "# Kestrel\n\nkestrel kestrel kestrel\n",
        "b": f"supersedes:: [[a]]\n\nA kestrel {'and an owl ' * 30}\n",
        "c": f"supersedes:: [[b]]\n\nA kestrel {'and a heron ' * 20}\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    assert paths(opening(folder), "kestrel") == ["c.md", "b.md", "a.md"]


def test_a_young_note_is_boosted_and_says_so(folder: Path, opening: Opening) -> None:
    for name, age in (("old", 30), ("young", 2)):
        day = (datetime.now(UTC) - timedelta(days=age)).isoformat()
        (folder / f"{name}.md").write_text(f"---\ncreated_at: {day}\n---\nkestrel")
    old, young = sorted(recall(opening(folder), "kestrel").notes, key=lambda note: note.path)
    assert young.relevance_score > old.relevance_score
    boosts = {reason.source: reason.score for reason in young.reasons}
    assert boosts["recency"] == 1.2
    assert "recency" not in {reason.source for reason in old.reasons}


def test_accesses_count_after_the_answer_and_only_those_returned(bank: Bank) -> None:
    assert paths(bank, "kestrels", limit=1) == [
        first := paths(bank, "kestrels", count_access=False)[0]
    ]
    counts = {
        note.path: note.access_count for note in recall(bank, "kestrels", count_access=False).notes
    }
    assert counts.pop(first) == 1
    assert set(counts.values()) == {0}


def test_archived_notes_are_left_out_unless_asked_for(bank: Bank) -> None:
    set_status(bank, "whoosh", "archived")
    assert "decisions/whoosh.md" not in paths(bank, "python kestrels")
    assert "decisions/whoosh.md" in paths(bank, "python kestrels", include_archived=True)


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_modes_say_what_they_used(folder: Path, opening: Opening, mode: str) -> None:
    (folder / "a.md").write_text("kestrel")
    found = recall(opening(folder, memory__embedder="static"), "kestrel", mode=mode)
    assert (found.mode_used, found.fallback_reason) == (mode, None)
    assert found.notes[0].path == "a.md"
    found = recall(opening(folder), "kestrel", mode=mode)
    assert found.mode_used == "lexical"
    assert found.fallback_reason == (None if mode == "lexical" else "embeddings_disabled")


def test_what_is_no_mode_or_time_is_bad_input(bank: Bank) -> None:
    with pytest.raises(BadInput, match="magic"):
        recall(bank, "x", mode="magic")
    for words in ({"since": "whenever"}, {"before": "13th month"}):
        with pytest.raises(BadInput):
            recall(bank, "x", **words)  # type: ignore[arg-type]


def test_no_notes_are_no_error(tmp_path: Path, opening: Opening) -> None:
    (tmp_path / "empty").mkdir()
    found = recall(opening(tmp_path / "empty"), "anything")
    assert (found.result_count, found.notes) == (0, ())


def test_what_is_shown_is_what_the_file_says_now(bank: Bank, folder: Path) -> None:
    file = folder / "new.md"
    for number in range(5):
        file.write_text(f"About kestrels, version {number}.")
        note = next(n for n in recall(bank, "kestrels version").notes if n.path == "new.md")
        assert f"version {number}" in note.content


def test_every_line_end_gives_the_same_lines(folder: Path, opening: Opening) -> None:
    text = "one\n\n# Birds\n\nThe kestrel\nhovers.\n"
    for name, newline in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        (folder / f"{name}.md").write_bytes(text.replace("\n", newline).encode())
    found = recall(opening(folder), "kestrel")
    assert {(note.line, note.heading) for note in found.notes} == {(3, "Birds")}
    assert all("The kestrel" in note.content for note in found.notes)
    assert found.result_count == 3


@pytest.mark.slow
def test_an_answer_is_whole_while_notes_change(folder: Path, opening: Opening) -> None:
    """Each note says its own number twice: a torn one would say two."""
    for number in range(20):
        (folder / f"{number}.md").write_text(f"kestrel 0 of {number}\n\nagain 0 of {number}\n")
    bank, stop = opening(folder), threading.Event()

    def scribble() -> None:
        version = 0
        while not stop.wait(0.002):  # else the readers hardly get their turn
            version += 1
            file = folder / f"{version % 20}.md"
            text = f"kestrel {version} of {version % 20}\n\nagain {version} of {version % 20}\n"
            (folder / ".mb-x").write_text(text)
            (folder / ".mb-x").replace(file)

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for _ in range(20):
            found = recall(bank, "kestrel", 100, count_access=False)
            for note in found.notes:
                lines = note.content.splitlines()
                assert lines[0].removeprefix("kestrel") == lines[2].removeprefix("again"), lines
                assert note.path == f"{lines[0].split()[-1]}.md"
    finally:
        stop.set()
        thread.join()
    assert len(paths(bank, "kestrel", limit=100)) == 20


def test_words_that_no_note_has_are_said(bank: Bank) -> None:
    def said(query: str, **options: object) -> list[str]:
        found = recall(bank, query, count_access=False, mode="lexical", **options)  # type: ignore[arg-type]
        assert found.notes
        return [one for one in found.notices if one.startswith("no note has the word")]

    assert said("tantivy whoosh") == []
    weak = said("is tantivy faster than Zanzibar's engine")
    assert weak == ["no note has the words 'faster', 'Zanzibar', 'engine'"]
    assert not recall(bank, "is tantivy faster than Zanzibar's engine").answered
    question = "why Tantivy over Whoosh, faster than Zanzibar"
    assert said(question) == [], "notes answer it"
    assert recall(bank, question).answered
    assert said("tantivy Zanzibar", since="2000-01-01") == [], "it is said of the whole bank only"


def test_a_tag_has_its_children(folder: Path, opening: Opening) -> None:
    texts = {"a": "#net/ports text", "b": "#net text", "c": "#network text", "d": "#🔥hot text"}
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(f"# Note {name}\n\n{text}\n", encoding="utf-8")
    bank = opening(folder)
    assert sorted(paths(bank, "tag:net")) == ["a.md", "b.md"]
    assert sorted(paths(bank, "text", tags=["net"])) == ["a.md", "b.md"]
    assert paths(bank, "tag:net/ports") == ["a.md"]
    assert paths(bank, "tag:#🔥hot") == ["d.md"]
    assert sorted(paths(bank, "text -tag:net")) == ["c.md", "d.md"]


@pytest.mark.parametrize("question", ["thundering herd", "why exponential backoff randomised"])
def test_a_small_bank_lists_its_best_guess_though_no_word_matches(
    folder: Path, opening: Callable[..., Bank], question: str
) -> None:
    (folder / "jitter.md").write_text(
        "# Retries wait for a random time\n\nWithout jitter, all clients hit the server at the same"
        " moment after an outage.\n"
    )
    (folder / "orders.md").write_text("# Postgres\n\nOrders are stored in one table a month.\n")
    answer = recall(opening(folder, memory__embedder="minilm"), question)
    assert [note.path for note in answer.notes][:1] == ["jitter.md"]


def test_a_small_bank_lists_three_guesses_where_nothing_answers(
    folder: Path, opening: Callable[..., Bank]
) -> None:
    texts = {
        "utc": "The scheduler has the time zone UTC, and local hours are converted before.",
        "clocks": "Between one and three at night we schedule nothing: clocks are set back.",
        "celery": "We need no queue with a broker, since there are twenty periodic jobs.",
        "orders": "Orders are stored in one table a month.",
    }
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(f"{text}\n")
    answer = recall(opening(folder, memory__embedder="minilm"), "daylight saving duplicates")
    assert {"utc.md", "clocks.md"} < {note.path for note in answer.notes}
    assert len(answer.notes) == 3
    assert not answer.answered


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Wir speichern die Größe.", "GRÖSSE"),
        ("A naïve cafe\u0301.", "naive café"),
        ("キャッシュはRedisに置く。", "Redis"),
        ("猫が好き。", "猫"),
        ("هذا كِتَابٌ جديد", "كتاب"),
        ("यह हिन्दी है", "हिन्दी"),
        ("한국어검색은 느리다", "한국어"),
        (f"The name {'abcde' * 12} is long.", "abcde" * 12),
        ("We recognise the colours of a centre.", "recognize color center"),
        ("The catalog analyzes behavior.", "catalogue analyse behaviour"),
    ],
)
def test_a_word_is_found_as_others_write_it(
    folder: Path, opening: Opening, text: str, question: str
) -> None:
    (folder / "a.md").write_text(f"# Note\n\n{text}\n", encoding="utf-8")
    (folder / "b.md").write_text("# Other\n\nnothing of it\n", encoding="utf-8")
    assert paths(opening(folder), question)[:1] == ["a.md"]


def test_a_word_that_no_note_has_is_named_as_it_was_typed(folder: Path, opening: Opening) -> None:
    unrelated(folder, 4)
    answer = recall(opening(folder), "easel behaviour of the organised catalogue")
    named = "no note has the words 'behaviour', 'organised', 'catalogue'"
    assert named in answer.notices


def test_a_question_in_german_is_not_one_of_names(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text(
        "# Sicherung\n\nDie Datenbank sichern wir jede Nacht und bewahren sie dreißig Tage auf.\n"
    )
    (folder / "b.md").write_text("# Bilder\n\nBilder liegen verkleinert im Objektspeicher.\n")
    answer = recall(
        opening(folder), "Wie lange bewahren wir Sicherungen der Datenbank in Tagen auf"
    )
    assert answer.notes[0].path == "a.md"
    assert answer.answered


def test_a_plain_name_in_front_matter_supersedes(folder: Path, opening: Opening) -> None:
    (folder / "old.md").write_text("# Retries\n\nRetry the payment job twice.\n")
    (folder / "new.md").write_text(
        "---\nsupersedes: old\n---\n# Retries\n\nRetry the payment job five times, with a delay.\n"
    )
    assert paths(opening(folder), "retry the payment job twice") == ["new.md", "old.md"]


def _write(folder: Path, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        (folder / path).write_text(f"---\ncreated_at: {text}", encoding="utf-8")


@pytest.mark.parametrize(
    "link",
    [
        "[[keep-uploads-in-s3-not-on-disk]]",
        "[[keep-uploads-in-s3-not-on-disk|the record]]",
        "[the record](keep-uploads-in-s3-not-on-disk.md)",
        "![[keep-uploads-in-s3-not-on-disk]]",
    ],
)
def test_the_words_of_a_target_are_not_those_of_the_note_that_links(
    link: str, folder: Path, opening: Opening
) -> None:
    record = "2024-01-01\n---\n# Object storage\n\nUploads are in S3: containers have no disk.\n"
    log = f"2024-01-02\n---\n# Log\n\nWe met on Monday, see {link}.\n"
    _write(folder, {"keep-uploads-in-s3-not-on-disk.md": record, "log.md": log})
    bank = opening(folder)
    first, *others = recall(bank, "why do we keep uploads in S3, not on disk").notes
    assert first.path == "keep-uploads-in-s3-not-on-disk.md"
    assert all(note.weak for note in others)


def test_a_table_of_contents_stands_below_the_note_that_it_leads_to(
    folder: Path, opening: Opening
) -> None:
    subjects = ("Scan images for vulnerabilities", "Name clusters by number", "Use ECR for images")
    for number, subject in enumerate(subjects):
        (folder / f"{number}-record.md").write_text(f"# {subject}\n\nIt was decided in spring.\n")
    items = "".join(f"- \u2705 [{n}. {title}]({n}-record.md)\n" for n, title in enumerate(subjects))
    (folder / "README.md").write_text(f"# Decisions\n\n## Contents\n\n{items}")
    for number in range(8):
        (folder / f"other-{number}.md").write_text(f"# Garden {number}\n\nWords on beds.\n")
    answer = recall(opening(folder), "scan container images for vulnerabilities", mode="lexical")
    assert answer.notes[0].path == "0-record.md"
    assert all(note.weak for note in answer.notes if note.path == "README.md")


def test_a_name_that_is_no_note_is_found_where_it_is_linked(folder: Path, opening: Opening) -> None:
    _write(folder, {"a.md": "2024-01-01\n---\n# Lunch\n\nPizza with [[anna-schmidt]].\n"})
    (note,) = recall(opening(folder), "Anna Schmidt").notes
    assert not note.weak


@pytest.mark.parametrize("status", ["rejected", "deprecated", "Superseded by another"])
def test_a_note_that_no_longer_holds_ranks_below_one_that_does(
    status: str, folder: Path, opening: Opening
) -> None:
    old = "# Sessions in Redis\n\nStore user sessions in Redis with a time to live of an hour.\n"
    new = "# Sessions in PostgreSQL\n\nWe keep the sessions of users in a table of PostgreSQL.\n"
    _write(folder, {"a.md": f"2024-01-01\nstatus: {status}\n---\n{old}"})
    _write(folder, {"b.md": f"2024-01-02\n---\n{new}", "c.md": "2024-01-02\n---\n# Backups\n"})
    bank = opening(folder)
    assert paths(bank, "where are user sessions stored")[:2] == ["b.md", "a.md"]
    word = status.split(maxsplit=1)[0].lower()
    assert paths(bank, f"what was {word}: where user sessions are stored")[0] == "a.md"


def test_a_newer_note_that_says_that_it_changes_something_comes_first(
    folder: Path, opening: Opening
) -> None:
    old = "# Retries of HTTP calls\n\nCalls to the payment provider are retried three times.\n"
    new = "Instead of three fixed attempts, calls are retried five times with backoff.\n"
    _write(
        folder,
        {
            "old.md": f"2024-01-05\n---\n{old}",
            "new.md": f"2024-09-05\n---\n# Retries of calls to the provider\n\n{new}",
            "refunds.md": "2024-09-06\n---\n# Refunds\n\nNow they are paid within a week.\n",
            "lint.md": "2024-09-06\n---\n# Lint\n\nRuff checks all Python code in CI.\n",
        },
    )
    bank = opening(folder, memory__embedder="minilm")
    bank.sync()
    question = "how often are calls to the payment provider retried"
    first, second, *_ = recall(bank, question).notes
    assert (first.path, second.path, second.newer) == ("new.md", "old.md", "new.md")
    assert not first.weak
    assert paths(bank, f"originally, {question}")[0] == "old.md"
