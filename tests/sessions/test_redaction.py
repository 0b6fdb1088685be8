"""Private spans and secrets are replaced in texts and in JSON, before anything is stored."""

import json
import subprocess
import sys
import time

import pytest

from memory_bank.notes.secrets import secrets
from memory_bank.sessions.redaction import redact, redact_id, redact_json, redact_value
from tests.support.growth import times_as_long

TOKEN = "gh" + "p_" + "a8Kd03mXq7Lw2ZpR5tYv9NcB1sFhJ6uE4gTo"
PASSWORD = "Xk9#mQ" + "2vL!"


@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        ("no secret, <b>bold</b> & privately", "no secret, <b>bold</b> & privately", 0),
        ("a <private>b</private> c <PRIVATE>\nd</Private>", "a [private] c [private]", 2),
        ("a <private>b <private>c</private> d</private> e", "a [private] e", 1),
        ("a <private reason='x'>b to the end", "a [private]", 1),
        ("a </private> b <private/> c", "a </private> b <private/> c", 0),
        ("Map<private-key> <privateer>", "Map<private-key> <privateer>", 0),
        (f"the password is {PASSWORD}, ok", "the password is [redacted], ok", 1),
        (f"export T={TOKEN}\n", "export T=[redacted]\n", 1),
        (TOKEN.replace("p_", r"p\_") + " end", "[redacted] end", 1),
        (f"<private>{TOKEN}</private> {TOKEN}", "[private] [redacted]", 2),
        ("half \ud800 a pair", "half ? a pair", 0),
        ("", "", 0),
    ],
)
def test_a_text(text: str, shown: str, count: int) -> None:
    assert redact(text) == (shown, count)
    assert redact_value({"a": [text]}) == ({"a": [shown]}, count)


@pytest.mark.parametrize(
    ("value", "shown", "count"),
    [
        ({"password": PASSWORD}, {"password": "[redacted]"}, 1),
        ({"env": {"DB_PIN": 83910274}}, {"env": {"DB_PIN": "[redacted]"}}, 1),
        ({TOKEN: 1, "x": None, "y": True}, {"[redacted]": 1, "x": None, "y": True}, 1),
        ({TOKEN: 1, TOKEN[::-1] + TOKEN: 2, " " + TOKEN: 3}, None, 2),
        ({"lines": ["+<private>", "+a", "</private> b"], "z": "c"},
         {"lines": ["+[private]", "[private]", "[private] b"], "z": "c"}, 1),
        ({"a": "<private> x", "b": "y"}, {"a": "[private]", "b": "y"}, 1),
        ({"a": ["<private>", "x"], "b": ["y"]}, {"a": ["[private]", "[private]"], "b": ["y"]}, 1),
        ([1, 2.5, -3, "x", {}], [1, 2.5, -3, "x", {}], 0),
        ("plain", "plain", 0),
        (None, None, 0),
    ],
)  # fmt: skip
def test_a_json_value(value: object, shown: object, count: int) -> None:
    redacted, replaced = redact_value(value)  # type: ignore[arg-type]
    if shown is not None or value is None:
        assert redacted == shown
    assert replaced == count
    assert TOKEN not in json.dumps(redacted).replace(TOKEN[::-1] + TOKEN, "")
    if isinstance(value, dict):
        assert len(redacted) == len(value)  # type: ignore[arg-type]


def test_a_private_key_over_many_strings_is_replaced_in_each() -> None:
    body = [TOKEN[4:] * 2 for _ in range(4)]
    lines = ["-----BEGIN RSA " + "PRIVATE KEY-----", *body, "-----END RSA " + "PRIVATE KEY-----"]
    redacted, count = redact_value({"lines": lines, "next": "kept"})
    assert count == 1
    assert not any(part in json.dumps(redacted) for part in body)
    assert redacted["next"] == "kept"  # type: ignore[index,call-overload]


def test_json_stays_json_and_other_text_is_redacted_as_text() -> None:
    inner = json.dumps({"cmd": f'say "password: {PASSWORD}"', "n": "<private>x"})
    text, count = redact_json(inner)
    assert count == 2
    assert json.loads(text) == {"cmd": 'say "password: [redacted]"', "n": "[private]"}
    assert redact_json("{not json <private>")[0] == "{not json [private]"
    deep = "[" * 5000 + f'"{TOKEN}"' + "]" * 5000
    assert TOKEN not in redact_json(deep)[0]
    assert TOKEN not in redact_json("[" * 300 + f'"{TOKEN}"' + "]" * 300)[0]


def test_values_that_are_allowed_stay() -> None:
    text = f"the password is {PASSWORD}"
    assert redact(text, [secrets.fingerprint(PASSWORD)]) == (text, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["<private>", "</private>", "<private></private>", "<", "<private ", "< private", TOKEN + " ",
     "password: Xk9#mQ2vL! ", "<private>\n", "key ", '{"a":', '["a",'],
)  # fmt: skip
def test_time_grows_with_the_length(unit: str) -> None:
    def took(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        redact(text)
        redact_value([text[:1000]] * (size // 1000))
        redact_json(text)
        return time.process_time() - began

    took(20_000)  # compiles the patterns
    assert times_as_long(took, 20_000, 80_000, enough=0.05, most=6) <= 6


def test_loading_it_needs_no_library_that_starts_slowly() -> None:
    code = (
        "import sys; from memory_bank.sessions.redaction import redact; redact('a password: x');"
        "heavy = {'numpy', 'pydantic', 'click', 'rich', 'tantivy', 'yaml', 'mcp', 'markdown_it'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_id_with_a_secret_becomes_another_one_that_stays() -> None:
    (first, _), (second, _) = redact_id(TOKEN), redact_id(f"call {PASSWORD}1 password={PASSWORD}2")
    assert TOKEN not in first
    assert PASSWORD not in second
    assert first != second
    assert redact_id(first) == (first, 0)
    assert redact_id("toolu_01A09q90qw90lq917835lq9") == ("toolu_01A09q90qw90lq917835lq9", 0)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("My key for the mirror is q8Zr1LmXw03Tn5vB7yKd9cPf, use it.", "q8Zr1LmXw03Tn5vB7yKd9cPf"),
        ("use q8Zr1LmXw03Tn5vB7yKd9cPf as bearer token please", "q8Zr1LmXw03Tn5vB7yKd9cPf"),
        ("The passphrase of the backup is Gr4vel-Oats-71.", "Gr4vel-Oats-71"),
        ('the passphrase is "maple seven quiet lantern"', "maple seven quiet lantern"),
        ("The key of the table is the path of the file", ""),
        ("The secret of its speed is that nothing is read twice", ""),
    ],
)
def test_a_secret_that_a_sentence_names_is_redacted(text: str, secret: str) -> None:
    clean, count = redact(text)
    assert count == bool(secret)
    assert not secret or secret not in clean
