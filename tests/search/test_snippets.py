"""Snippets."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_bank.base.text import estimate
from memory_bank.search.retrievers.keyword import analyzer
from memory_bank.search.snippets import cut_excerpt, find_matches, strip_markdown, unlink_text
from memory_bank.search.snippets import cut_snippet as snippet_of

TALK = """\
**user**: Uploads fail on Mondays. Which queue do the workers read?

**assistant**: The default queue. Shall I raise the number of retries of uploads to five?

**user**: No. Look at the uploads of the nightly job first, it fills the queue.

**assistant**: I see: the job doubles every upload, and the uploads after it wait.

**user**: Then from now on the nightly job gets its own queue, and retries stay at three.
"""

RECORD = """\
# Where jobs wait

- status: accepted
- date: 2026-01-05
- supersedes:: [[decisions/redis]]

## Context

Jobs waited in Redis. A restart of Redis lost jobs, and nobody saw that for days.

## Decision

Jobs wait in a table of Postgres. A job is taken with SKIP LOCKED.

## Considered options

We looked at Redis with a log, which needs another server. RabbitMQ needs another server, too.
"""


def snippet(text: str, question: str) -> str:
    return snippet_of(text, question).text


FILLER = "Nothing of note happened on that day and nobody wrote anything down. "


def test_a_short_text_is_shown_whole_without_its_heading() -> None:
    assert snippet("## Head\n\nOne  two\nthree.", "two") == "One two three."


def test_a_snippet_has_the_sentence_with_the_words() -> None:
    text = FILLER * 10 + "The kestrel nests in the tower. " + FILLER * 10
    found = snippet(text, "Where does the kestrel nest?")
    assert found.startswith("… The kestrel nests in the tower. Nothing")
    assert found.endswith(" …")
    assert len(found) < 260


def test_a_long_sentence_is_cut_where_the_words_are() -> None:
    text = "so it goes, and so on, " * 20 + "the kestrel nests, " + "and so it goes, " * 20
    found = snippet(text, "Where does the kestrel nest?")
    assert "kestrel nests" in found
    assert found.startswith("… ")
    assert found.endswith(" …")


@pytest.mark.parametrize("tokens", [30, 60])
def test_the_end_of_a_talk_is_in_its_excerpt(tokens: int) -> None:
    found = cut_excerpt(TALK, "Uploads fail after the deploy, the workers idle", tokens)
    assert "retries stay at three." in found.text
    assert estimate(found.text) <= tokens


def test_what_was_decided_comes_before_what_else_has_the_words() -> None:
    found = cut_excerpt(RECORD, "where do jobs wait since Redis lost them", 45)
    assert "Jobs wait in a table of Postgres." in found.text
    assert "Jobs waited in Redis." in found.text
    assert set(found.lines) == {8, 12}


def test_a_sentence_that_is_said_often_is_shown_once() -> None:
    often = "Jobs are tried five times."
    talk = "\n\n".join([often, "The worker was slow that day.", "Nobody knew why."] * 9)
    assert cut_excerpt(talk, "how often are jobs tried", 40).text.count(often) == 1


def test_a_text_that_fits_is_whole_without_fields_status_and_date() -> None:
    found = cut_excerpt(RECORD, "jobs", 1000).text
    assert found.startswith("# Where jobs wait")
    assert found.endswith("RabbitMQ needs another server, too.")
    assert not any(word in found for word in ("supersedes", "accepted", "2026"))
    assert (
        "Accepted" not in cut_excerpt("# A\n\n## Status\n\nAccepted\n\n## Rule\n\nB.", "a", 99).text
    )


def test_code_keeps_its_lines() -> None:
    text = "Set it so:\n\n```yaml\nstatus: on\nkey:: [[x]]\n```"
    assert cut_excerpt(text, "status", 1000).text == text


FENCES = [
    "```bash\nnpm install -g log4brains\nlog4brains init\n```",
    "~~~\nsrc/\n├── app.py\n└── web/\n    └── app.js\n~~~",
    "    pip install shop\n    shop migrate",
    "| port | host |\n|---|---|\n| 8080 | shop |\n| 9090 | mail |",
    "1. install the shop\n2. stop log4brains\n\n3. migrate the port\nand the host",
    "- stop the app:\n\n  ```\n  pip stop app\n  ```\n- migrate the shop",
]


@pytest.mark.parametrize("fence", FENCES)
def test_code_and_lists_are_whole_in_an_excerpt_or_left_out(fence: str) -> None:
    text = f"# Set up\n\n{FILLER * 9}\n\nInstall the shop with npm:\n\n{fence}\n\n{FILLER * 9}"
    for most in range(10, 120, 10):
        found = cut_excerpt(text, "how to install log4brains app pip shop migrate port", most).text
        for line in fence.split("\n"):
            assert fence in found or not line or line not in found.split("\n"), found
            assert fence in found or "…" in found
        assert "log4brains log4brains" not in found
    assert fence in found
    assert "log4brains log4brains" not in snippet(text, "install log4brains app pip shop")


def test_lists_keep_their_form_and_comments_are_left_out() -> None:
    listed = "- Ports are:\n  - 8080 for the shop\n  - 9090 for mail"
    text = f"{FILLER * 9}\n\n{listed}\n\n<!-- ports:\nof the old shop\n-->\n\n{FILLER * 9}"
    found = cut_excerpt(text, "which ports have shop and mail", 60).text
    assert listed in found
    assert "old shop" not in found


def test_comments_are_left_out_wherever_they_stand() -> None:
    text = "Ports <!-- old --> are <!-- of\nthe old\n--> 8080, said by `<!-- this -->`.\n<!-- old"
    assert cut_excerpt(text, "ports", 99).text == "Ports  are\n 8080, said by `<!-- this -->`."


def test_of_one_long_list_some_items_are_shown() -> None:
    listed = "\n".join(f"- Port {number} is of shop {number}." for number in range(8000, 8040))
    assert "- Port 8012 is of shop 8012." in cut_excerpt(listed, "shop 8012", 40).text


@given(st.text(max_size=2000), st.text(max_size=60), st.integers(20, 200))
def test_an_excerpt_of_any_text_fits_and_invents_nothing(
    text: str, question: str, most: int
) -> None:
    found = cut_excerpt(text, question, most, len)
    assert len(found.text) <= most + 4
    assert set(found.text) <= {*text, " ", "\n", "…"}


@given(
    st.from_regex(
        r"(?ia)[a-z]{0,9}(y|ying|ies|ise[ds]?|ising|isation|our(ed|ite)?|tre|bre|[a-z]{1,4})",
        fullmatch=True,
    )
)
@example("dying")
@example("metre")
@example("idly")
def test_each_word_begins_as_its_stem_says(word: str) -> None:
    stems = {*analyzer.stem_words(word), *analyzer.stem_words(analyzer.identifier_parts(word))}
    assert all(analyzer.find_start(stem) in word.lower() for stem in stems)


def test_whole_words_win_over_beginnings_and_inflections_count_without_them() -> None:
    text = "An artist. " + FILLER * 8 + "The art of war. " + FILLER * 8
    assert "art of war" in snippet(text, "art")
    assert "artist" in snippet("x " + FILLER * 6 + "Two artists. " + FILLER * 6, "artistic")


def test_most_of_the_words_beat_the_first_of_them() -> None:
    text = "A lock. " + FILLER * 8 + "The lock on the folder is freed. " + FILLER * 8
    assert "freed" in snippet(text, "lock folder freed")


def test_without_any_of_the_words_the_beginning_is_shown() -> None:
    assert snippet(FILLER * 10, "xylograph").startswith("Nothing of note")


@given(st.text(max_size=2000), st.text(max_size=60))
def test_any_text_has_a_snippet_of_bounded_length(text: str, question: str) -> None:
    found = snippet(text, question)
    assert len(found) <= 240 + 4
    assert "\n" not in found


def test_words_with_a_common_stem_match() -> None:
    text = "Retries of a job, retried in findUserByEmail or max_retry; no retro."
    found = [text[start:end] for start, end in find_matches(text, "how is a user retried?")]
    assert found == ["Retries", "retried", "findUserByEmail", "retry"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See [[decisions/queue]].", "See decisions/queue."),
        ("See [[decisions/queue|the queue]], ![[a.md#One|it]].", "See the queue, it."),
        ("A [perfect *match*](score.md#x) and ![alt](a.png)", "A perfect *match* and alt"),
        ("items[0](x) [ ] [[a]", "items0 [ ] [[a]"),
        ("[[ [[a]] ]] [[|b]] [[a|]]", "[[ a ]] b [[a|]]"),
    ],
)
def test_links_become_their_words(text: str, plain: str) -> None:
    assert unlink_text(text) == plain


def test_why_is_answered_by_a_reason_at_the_start() -> None:
    start = "A lock file can be deleted while it is held; two processes would then hold it."
    rest = f"{FILLER * 8}\n\nThe folder is locked for one write. The folder's lock is taken first."
    text = f"{start}\n\n{rest}"
    assert start in snippet(text, "why is the lock on a folder?")


def test_what_a_text_says_of_itself_is_no_part_of_an_excerpt() -> None:
    text = "# Fees\n\n## Changelog\n\n- 2025/03/13: Improve the fees\n\n## Decision\n\nFees are fixed.\n"
    assert (
        cut_excerpt(text, "fees", 100).text
        == "# Fees\n\n## Changelog\n\n\n## Decision\n\nFees are fixed."
    )


def test_a_snippet_has_words_and_no_marks_of_items_rows_quotes_and_links() -> None:
    text = (
        '- First the [guide][g] of herons\n- Then [a page](x.md "t") of ~~old~~ herons\n'
        "1. herons by number.\n> herons quoted\n\n| a | b |\n|---|:-:|\n| herons | [x][g] |\n\n"
        "Herons - and 2 > 1\n\n[g]: https://example.org\n"
    )
    assert strip_markdown(snippet_of(text, "herons", 1000).text) == (
        "First the guide of herons · Then a page of old herons · herons by number. · herons quoted"
        " · a · b · herons · x Herons - and 2 > 1"
    )
