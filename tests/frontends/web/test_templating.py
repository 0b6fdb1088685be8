from __future__ import annotations

import importlib.resources
import re
from datetime import UTC, datetime

import pytest
from jinja2 import UndefinedError

from memory_bank.frontends.web import templating

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def shown(source: str, **values: object) -> str:
    return templating.environment(lambda name: f"/static/{name}").from_string(source).render(values)


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
        ("2026-11-23T11:59:50Z", "just now"),
        ("2026-11-23T11:59:00Z", "1 minute ago"),
        ("2026-11-23T09:00:00Z", "3 hours ago"),
        ("2026-11-21T12:00:00+00:00", "2 days ago"),
        ("2026-10-24T12:00:00Z", "2026-10-24"),
        ("2026-12-24T12:00:00Z", "2026-12-24"),
        ("2026-11-22", "1 day ago"),
        ("soon", "soon"),
    ],
)
def test_a_time_is_shown_by_its_age(when: str, text: str) -> None:
    assert templating.age(when, NOW) == text


def test_no_template_marks_a_text_as_safe() -> None:
    folder = importlib.resources.files("memory_bank.frontends.web") / "templates"
    for one in folder.iterdir():
        text = one.read_text(encoding="utf-8")
        assert not re.findall(r"\|\s*safe\b|autoescape|Markup", text), one.name
