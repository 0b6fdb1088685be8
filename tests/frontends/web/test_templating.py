import importlib.resources
import re
from datetime import UTC, datetime

import pytest
from jinja2 import UndefinedError

from memory_bank.frontends.web import templating

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def shown(source: str, **values: object) -> str:
    return (
        templating.build_environment(lambda name: f"/static/{name}")
        .from_string(source)
        .render(values)
    )


def test_every_text_is_escaped() -> None:
    assert shown("{{ a }}", a="<b>'\"&") == "&lt;b&gt;&#39;&#34;&amp;"
    assert shown("{{ a | path }}", a="a b/<ü>?#") == "a%20b/%3C%C3%BC%3E%3F%23"


def test_characters_that_nobody_sees_are_shown() -> None:
    assert shown("{{ a }}", a="a\u202eb\x00\ud800") == "a\\u202eb\\x00\\ud800"
    assert shown("{{ a | e }}", a="a\u202e<") == "a\u202e&lt;"


def test_a_name_that_no_page_gave_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        shown("{{ a }}")


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ("2026-11-23T11:59:50Z", "Today"),
        ("2026-11-22T23:00:00Z", "Yesterday"),
        ("2026-11-21T12:00:00+00:00", "21 Nov"),
        ("2025-12-24", "24 Dec 2025"),
        ("soon", "soon"),
    ],
)
def test_a_day_has_its_name(when: str, text: str) -> None:
    assert templating.day_name(when, NOW) == text


def test_the_words_around_a_link_stand_without_it() -> None:
    assert templating.around("A rename is atomic. extends:: [facts/lock]") == "A rename is atomic."
    assert templating.around("extends:: [facts/lock]") == ""
    said = "The lock is held, as [facts/lock#Why] says. In"
    assert templating.around(said) == "The lock is held, as facts/lock#Why says."
    titles = {"facts/lock": "A lock on the folder"}
    assert templating.around(said, titles) == "The lock is held, as A lock on the folder says."
    assert (
        templating.around("whoever waits reads [the note] and")
        == "… whoever waits reads the note and …"
    )
    assert (
        templating.strip_markdown("see `a`, [[facts/b|the other]] and **c**")
        == "see a, the other and c"
    )
    code = "`char *buf`, ``**kwargs`` and `src/**/*.c` for *all* **files**: 2 * 3"
    assert (
        templating.strip_markdown(code) == "char *buf, **kwargs and src/**/*.c for all files: 2 * 3"
    )
    assert templating.strip_markdown("Two: … - one. - [[facts/b]]. … [x]: https://a.b/c … …") == (
        "Two: … one. facts/b. …"
    )


def test_no_template_marks_a_text_as_safe() -> None:
    folder = importlib.resources.files("memory_bank.frontends.web") / "templates"
    for one in folder.iterdir():
        text = one.read_text(encoding="utf-8")
        assert not re.findall(r"\|\s*safe\b|autoescape|Markup", text), one.name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("there is no note 'a'", "There is no note 'a'."),
        ("did you mean b?", "Did you mean b?"),
        ("notes/a.md is gone", "notes/a.md is gone."),
        ("since:never was read as a word.", "since:never was read as a word."),
        ("", ""),
    ],
)
def test_an_error_becomes_a_sentence_and_names_stay(text: str, sentence: str) -> None:
    assert templating.sentence(text) == sentence
