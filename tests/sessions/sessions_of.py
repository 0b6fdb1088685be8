"""Sessions to write: one as an agent leaves it, and strategies for any."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.sessions.note_format import make_summary_id
from memory_bank.sessions.records import GitState, Observation, Prompt, Session, Summary
from tests.properties import hostile

START = datetime(2026, 11, 22, 10, tzinfo=UTC)
GIT = GitState("1a2b3c", "main", "9f8e7d")

OBSERVATION = Observation(
    id="obs-1a2b3c4d5e6f",
    session_id="7f3c2d10-aaaa",
    project="shop",
    obs_type="bugfix",
    title="Retry the job three times before it fails",
    created_at=START + timedelta(minutes=20, milliseconds=250),
    subtitle="The gateway is slow",
    facts=("The gateway answers 504 after 30 s", "Three tries are enough"),
    narrative="It failed at night.\n\nNow it tries again.",
    concepts=("retries", "payments"),
    files_read=("src/pay.py",),
    files_modified=("src/job.py", "tests/test_job.py"),
    prompt_number=1,
    discovery_tokens=1800,
    git=GIT,
)
SUMMARY = Summary(
    id=make_summary_id("7f3c2d10-aaaa"),
    session_id="7f3c2d10-aaaa",
    project="shop",
    created_at=START + timedelta(hours=1),
    request="Make the payment job survive time-outs",
    learned="The gateway is slow\n- at night",
    files_read=("src/pay.py",),
    files_edited=("src/job.py",),
    discovery_tokens=5400,
    git=GIT,
)
SESSION = Session(
    session_id="7f3c2d10-aaaa",
    project="shop",
    started_at=START,
    agent="claude-code",
    ended_at=START + timedelta(hours=1),
    last_prompt_number=1,
    input_tokens=12_000,
    output_tokens=900,
    redactions=2,
    git=GIT,
    prompts=(Prompt("7f3c2d10-aaaa", 1, "Retry payments that time out. Please", START),),
    observations=(OBSERVATION,),
    summary=SUMMARY,
)

_HOSTILE = [
    "# not a heading", "## Summary", "text\n---\nmore", "text\n===", "```python\nx = [[a]]\n```",
    "~~~", "<!-- open", "<div>\n## x", "<script>", "^obs-1a2b3c4d5e6f", "words ^sum-123456789012",
    "- fact:: forged", "obs_type:: decision", "key:: [[a]], [[b]]", "[[a]] and ![[b|c]]", "[a](b.md)",
    "[r]: /x\n\n[r]", "[^1]: a", "- [x] done [[x]]", "> # quoted\n> ---", "| a | ^b-c |\n|---|---|\n|#t|^d|",
    "#tag and (#other)", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c", "\\[[a]] \\\\# \\", "C:\\Users\\", "a\r\nb\rc",
    "é 😀 \u200b\u200fשלום مرحبا", "__init__ **x** `y` ~~z~~ ==w== &amp; <b>", "    indented\n\n    code", "a:::b ::: c::",
    "+++\na = 1\n+++", "---\nid: x\n---", "\x00\x1b[31mred\x85\u2028x\ufeff", "1. a\n   b\n2) [c]: d", "a #", "# ## #",
    "%%comment%%", "$$x^2$$ x ^2", "\t\ttabs\n\f\n", "- prompt 9:: forged", "Prompts", "", " ", "[x](y", "](", "\ud800",
]  # fmt: skip
_MARKS = st.text(st.sampled_from("#^[]()<>`~*_:|-=+!\\ \n\t.a1&;"), max_size=40)
LONG = [text(100_000) for name, text in hostile.LINKS.items() if name in ("wikilinks", "escapes")]
texts = st.one_of(
    st.text(max_size=60),
    _MARKS,
    st.lists(st.sampled_from(_HOSTILE), min_size=1, max_size=4).map("\n".join),
    st.lists(st.sampled_from(_HOSTILE), min_size=1, max_size=4).map(" ".join),
)
moments = st.integers(0, 4 * 10**15).map(
    lambda microseconds: datetime(1971, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
)
numbers = st.integers(0, 10**9)
gits = st.none() | st.builds(GitState, texts, texts, st.sampled_from(["9f8e7d", "0" * 40]))
lists = st.lists(texts, max_size=4).map(tuple)


def observations(session_id: str = SESSION.session_id) -> st.SearchStrategy[Observation]:
    return st.builds(
        Observation,
        id=st.from_regex(r"obs-[0-9a-f]{12}", fullmatch=True),
        session_id=st.just(session_id),
        project=st.just("shop"),
        obs_type=st.sampled_from(OBSERVATION_TYPES),
        title=texts,
        created_at=moments,
        subtitle=texts,
        facts=lists,
        narrative=texts,
        concepts=lists,
        files_read=lists,
        files_modified=lists,
        prompt_number=numbers,
        discovery_tokens=numbers,
        git=gits,
    )


summaries = st.builds(
    Summary,
    id=st.just(SUMMARY.id),
    session_id=st.just(SESSION.session_id),
    project=st.just("shop"),
    created_at=moments,
    **dict.fromkeys(
        ("request", "investigated", "learned", "completed", "next_steps", "notes"), texts
    ),
    files_read=lists,
    files_edited=lists,
    discovery_tokens=numbers,
    git=gits,
)
prompts = st.lists(texts, max_size=4).map(
    lambda given: tuple(
        Prompt(SESSION.session_id, number, text, START) for number, text in enumerate(given, 1)
    )
)
sessions = st.builds(
    Session,
    session_id=st.just(SESSION.session_id),
    project=texts,
    started_at=moments,
    agent=st.text(max_size=80),
    ended_at=st.none() | moments,
    input_tokens=numbers,
    output_tokens=numbers,
    redactions=numbers,
    git=gits.map(lambda git: git and git._replace(repository_id=git.repository_id or "1a")),
    prompts=prompts,
    observations=st.lists(observations(), max_size=4, unique_by=lambda one: one.id).map(tuple),
    summary=st.none() | summaries,
)
