"""Detect secrets by a name near them: `password = …`, “the token is …”, the column of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.notes.secrets.placeholders import (
    is_chosen,
    is_generated,
    is_joined,
    is_placeholder,
    is_random,
    is_strong,
)
from memory_bank.notes.secrets.secret_places import (
    DATE,
    LEAST_PASSWORD,
    LEAST_TOKEN,
    PASSWORD,
    TOKEN,
    TRAILING,
    SecretPlace,
    find_each,
    is_token,
    label_ends,
)

_STEMS = (
    "pass", "pwd", "secret", "token", "credential", "auth", "kennwort", "contraseña", "pin", "dsn",
    "connection", "key", "pw", "schlüssel", "geheimnis", "psk", "identified",
)  # fmt: skip

_NAME = lazy_pattern(
    r"pass(?:word|wort|wd|phrase|code|key)|passw(?![a-z])|pwd|pass(?![a-z])|secret|token|credential"
    r"|kennwort|contraseña|auth(?![a-z])|pin(?![a-z]|[ ]to[ ])|dsn(?![a-z])|connection[_ ]?string"
    r"|key(?![a-z])|pw(?![a-z])|schlüssel(?![a-zäöü])|geheimnis(?![a-z])|psk(?![a-z]|_tls)|identified by(?= )"
)
"""Words that a secret may follow, matched in lower-case text."""

_WHOLE = frozenset(["pass", "auth", "pin", "dsn", "pw", "psk"])
"""Names that count only as whole words."""

_OWNER = lazy_pattern(
    r"(?:api|access|auth|account|private|encryption|signing|master|storage|licen[sc]e|service|shared|hmac"
    r"|security|webhook|deploy|admin|app|application|project|integration|ingest|write|root|consumer|rest"
    r"|recovery|unseal|global|live|jwt|session|cookie|server|bot|personal|developer"
    r"|heroku|datadog|twilio|cloudflare|stripe|openai|anthropic|aws|azure|google|algolia|mailgun|sendgrid"
    r"|shopify|okta|github|gitlab)[ _.-]?(?:api[ _.-]?)?$"
)
"""Words before `key` that make the key a secret."""

_WIRELESS = lazy_pattern(
    r"(?:wlan|wi-?fi|wireless|wpa\d?|guest|gäste|hotspot|netzwerk|psk)[ _.-]?$"
)
"""Words before `key` that make the key a password."""

_KEYS, _PASSWORDS = (
    ("key", "schlüssel"),
    ("pass", "pw", "kennwort", "contra", "pin", "psk", "identified"),
)

_BARE_KEY = lazy_pattern(r"[\"'`*_ ]{0,3}(?:[:=]| is )")

_REST = lazy_pattern(r"[A-Za-z0-9_.-]{0,30}")

_NO_VALUE = lazy_pattern(
    r"(?:^|[_.-]|(?<=[a-z]))(?:name|id|ids|type|url|uri|path|file|len(?:gth)?|size|count|limit|hash(?:ed)?|field|policy|ttl"
    r"|expir\w*|prefix|manager|store|reset|mode|enabled?|required|min|max|hint|prompt|label|version"
    r"|endpoint|rotation|usage|budget|izer|ize[ds]?|ization|s?_?per\w*|info|format|source|provider|algorithm"
    r"|input|allow|column|attribute|scope|arn|ref|issuer|audience|kind|types|names|cost|board|binding|word|map)s?$",
    re.IGNORECASE,
)
"""Ends of names of properties of a secret, such as its length."""

_PUBLIC = lazy_pattern(
    r"(?:public|publishable|cache|primary|foreign|sort|partition|idempotency|object|map|dict|hot|short|cut"
    r"|arrow|sharing|index|composite|translation|widget|csrf|xsrf|next|page|design|continuation|cancellation"
    r"|commit|host|site|anon)[ _.-]?$"
)

_ROUND = lazy_pattern(r"(?:first|second|third|last|next|each|every|final|one|single)[ -]$")
"""Words before `pass` that make it one of several."""

_BETWEEN = lazy_pattern(
    r"""[\\"'`*_\])}]{0,6}                              # what closes the name
    (?:[ ]{1,2}\#?\d{1,2}(?=[ :=]))?                     # 1
    (?:[ ]{0,2}\([^()\n]{1,40}\))?                      # (staging)
    (?:[ ]?:[ ]?(?:[A-Za-z]\w{2,20}\??)(?=[ ]?=))?      # a type, before =
    (?:
        [ \t]{0,20}(?::=|=>|->|→|:{1,2}|：|＝|={1,2}|\?=|\|+|>|–|—|-(?=[ ]))(?:\*\*|__)?[ \t]{0,20}(?:(?:\|[-+]?|>-?)\n[ \t]{1,12})?
        |[ ]?,[ ]?(?=["'`])
        |["'],?\s{1,20}["']?value["']?\s{0,3}[:=]\s{0,3}
        |\s{1,20}["']?value["']?\s?[:=]\s{0,3}
        |(?:[ ]+(?!is\b|was\b|are\b|to\b|as\b|ist\b|lautet\b)[A-Za-z(äöüÄÖÜ][\w'/.()-]{0,24}){0,6}\s{1,3}(?:is|was|to|as|ist|war|lautet)(?:[ ]+(?:now|currently|still|set[ ]to))?(?:[ ]?:(?=\n)|[ ]?:?[ ])
        |(?:[ ]+(?!is\b|was\b)[A-Za-z(][\w'/.()-]{0,24}){1,5}(?:[ ]?[:=]|[ ]?→|[ ]-)[ ]
        |[ ](?=["'`]|\S{7,})
    )
    (?:(?:(?<=:)|(?<=:[ ])|(?<=:\*\*))[ \t]{0,4}\n(?:[ \t>]{0,8}\n)?[ \t>]{0,8}(?:```\w{0,12}\n[ \t>]{0,8})?(?=[^\s]{6,120}[ \t]{0,4}(?:\n|$)))?
    (?:\*\*|__|[*_(\[<]|\\?["'`“‘]|[bru](?=["']))*
    """,
    re.VERBOSE,
)
"""The text that may separate a secret's name from its value."""

_ALLOW = "] allow"
"""The setting `[secrets] allow`, whose hashes are not secrets; errors show such a line."""

_SCOPE = lazy_pattern(
    r"(?<![a-z])(?:build|chore|ci|deps|docs|feat|fix|perf|refactor|revert|security|style|test)\([\w/ -]{0,30}$"
)
"""The type of a commit, whose scope in parentheses is no name of a value: `fix(auth): …`."""

_SAID = lazy_pattern(
    r"\s(?:is|was|to|ist|war|lautet)(?:[ ](?:now|currently|still|set to))?[ ]?:?[ ]$"
)

_VALUE = lazy_pattern(r"""[^\s"'`<>|“”‘’]{4,200}""")

_WORDS = lazy_pattern(r"[a-z]{3,12}(?:[ ][a-z]{3,12}){3,11}(?=[\"'`]|[.,]?[ \t]*(?:\n|$))")

_ASSIGN = tuple(":=\"'`“")

_USER = lazy_pattern(
    r"(?:user|benutzer|login|account|konto)\w*\W[^\n]{1,30}[,;/][ ]?$", re.IGNORECASE
)

_FLAG = lazy_pattern(r"[ ]{1,4}['\"]?")

_IS_THE = lazy_pattern(
    r"[ ](?:as|is|for)[ ](?:the|its|their|my|our|a)[ ](?:[\w-]{1,20}[ ]){0,3}?"
    r"(?:password|passphrase|token|secret|api key|access key)"
)

_REACH = 210

_ROW = lazy_pattern(r"[ \t>]{0,8}\|?[ \t:|-]{5,300}\n")
"""The delimiter row of a table."""

_ROW_MARKS = ("|-", "| -", "|:", "| :")

_MOST_ROWS = 200
"""Rows of a table that are read below its heading."""


class _Name(NamedTuple):
    """The name of a secret: its word, its end, and the values it may have.

    A key without a word that says whose it is is not `sure`: its value must be longer.
    """

    word: str
    end: int
    password: bool
    sure: bool


def find_named(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values that follow a word for a secret; `lower` is the text in lower case."""
    for stem in _STEMS:
        after = 0
        for start in find_each(lower, stem):
            if start < after:
                continue
            name = _read_name(lower, start)
            place = _find_value(text, start, name) if name else None
            if place is not None:
                after = place.end
                yield place


def _read_name(lower: str, start: int) -> _Name | None:
    """Return the name of a secret at a position, as `password_production`; None if there is none."""
    match = _NAME.match(lower, start)
    if match is None:
        return None
    word, before = match[0], lower[max(0, start - 24) : start]
    if word == "pass" and before[-1:].isalpha():
        word = "…pass"
    elif (word in _WHOLE and before[-1:].isalpha()) or _PUBLIC.search(before):
        return None
    if word == "pass" and _ROUND.search(before):
        return None
    password = match[0].startswith(_PASSWORDS)
    sure = True
    if word in _KEYS:
        password = bool(_WIRELESS.search(before))
        sure = password or bool(_OWNER.search(before))
        if not sure and (before[-1:].isalpha() or not _BARE_KEY.match(lower, match.end())):
            return None
    rest = _REST.match(lower, match.end())
    suffix = rest[0].rstrip(".-") if rest else ""
    if _NO_VALUE.search(suffix):
        return None
    return _Name(word, match.end() + len(suffix), password, sure)


def _find_value(text: str, start: int, name: _Name) -> SecretPlace | None:
    """Return the value after a name if it is random or a password."""
    name_start = start
    while name_start > max(0, start - 40) and (
        text[name_start - 1].isalnum() or text[name_start - 1] in "_-"
    ):
        name_start -= 1
    flag = text.startswith("--", name_start)
    separator = _BETWEEN.match(text, name.end) or (_FLAG.match(text, name.end) if flag else None)
    raw = _VALUE.match(text, separator.end()) if separator else None
    if separator is None or raw is None or separator[0].startswith(_ALLOW):
        return None
    if separator[0].startswith(")") and _SCOPE.search(text, max(0, name_start - 40), name_start):
        return None
    gap, at = separator[0], separator.end()
    assigned = gap.rstrip()[-1:] in _ASSIGN
    words = _WORDS.match(text, at) if name.word == "passphrase" and assigned else None
    if words and is_joined("-".join(words[0].split())):
        return SecretPlace(PASSWORD, *words.span())
    quoted = gap[-1:] in "\"'`“‘" and gap != ""
    value = raw[0] if quoted else _unquote_value(raw[0])
    if _is_verb(name, gap, value):
        return None
    follows_user = (
        gap == " " and _USER.search(text, max(0, name_start - 40), name_start) is not None
    )
    is_announced = (
        gap.rstrip().endswith(("=", ":", "|", ">")) or _SAID.search(gap) is not None or follows_user
    )
    letters = (is_announced or (quoted and "," not in gap)) or (flag and gap in (" ", "="))
    if not _may_be_value(value, name, tight=quoted or is_announced or flag, letters=letters):
        return None
    return SecretPlace(PASSWORD if name.password else TOKEN, at, at + len(value))


def _unquote_value(raw: str) -> str:
    value = raw.split(";", maxsplit=1)[0].rstrip(TRAILING)
    return value.split("&")[0] if "=" in value else value


def _is_verb(name: _Name, gap: str, value: str) -> bool:
    """Return whether a name is a verb: `pass X to Y`, `bypass X`, or has a mere word behind it."""
    if (name.word == "pass" and gap.endswith(" to ")) or (
        name.word == "…pass" and not is_generated(value)
    ):
        return True
    if name.word.startswith("identified") and gap.strip(" ") not in ("'", '"'):
        return True
    return gap == " " and (not value.isascii() or (name.word in _WHOLE and not is_generated(value)))


def _may_be_value(value: str, name: _Name, *, tight: bool, letters: bool) -> bool:
    """Return whether a name may have a value; with `letters`, lower-case letters may be a password."""
    if is_placeholder(value) or "](" in value or "://" in value:
        return False
    if is_token(value):
        return name.sure or len(value) >= 2 * LEAST_TOKEN
    if not name.sure or len(value) < LEAST_PASSWORD:
        return False
    if name.password and tight and value.isdigit():
        return not DATE.match(value)
    if is_chosen(value, loose=name.password and tight):
        return True
    return name.password and is_joined(value, phrase=not letters)


def find_before_names(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values before a name, as in: use … as the API key."""
    for word in (" as ", " is ", " for "):
        for at in find_each(lower, word):
            if text[at - 1].isspace() or not _IS_THE.match(lower, at):
                continue
            start = max(text.rfind(mark, max(0, at - _REACH), at) for mark in " \n(") + 1
            value = text[start:at].strip("`\"'*")
            quoted = text[at - 1] in "`\"'"
            if len(value) >= LEAST_TOKEN and not is_placeholder(value) and is_random(value):
                yield SecretPlace(TOKEN, start, at)
            elif (
                is_strong(value)
                if quoted
                else is_generated(value) or (word != " for " and is_joined(value))
            ):
                yield SecretPlace(PASSWORD, start, at)


_PROSE = lazy_pattern(
    r"\b(?P<name>pass(?:word|phrase|code)?|pass[ -]phrase|pwd|key|token|secret|credentials?|schlüssel|passwort|kennwort|passphrase|clé"
    r"|mot de passe|clave|contraseña)\b(?:[ \t]+(?!(?:is|are|was|ist|est|es)\b)[\w./@-]{1,40}){0,6}[ \t]+"
    r"(?:is|are|was|will be|ist|lautet|est|es)(?:[ \t]+now)?[ \t]{0,3}:?[ \t]+(?P<quote>[\"'`“]?)(?P<value>\S{6,200})",
    2,
)
"""A name, a few words, and its value, as in: the passphrase of the backup is …"""

_AS_NAME = lazy_pattern(
    r"\b(?:use|take|with|nimm|mit)[ \t]+[\"'`]?(?P<value>\S{8,200}?)[\"'`]?[ \t]+(?:as|als)[ \t]+(?:\w+[ \t-]+){0,3}"
    r"(?:token|key|password|passphrase|secret|passwort|schlüssel)\b",
    2,
)

# Words from which a phrase may be a password.
_PHRASE_WORDS = 3


def find_in_prose(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values that a sentence names, as in: my key for the mirror is …, use it as token."""
    if not any(
        f" {word} " in lower
        for word in ("is", "are", "was", "be", "ist", "lautet", "est", "es", "as", "als")
    ):
        return
    for match in _PROSE.finditer(text):
        is_password = match["name"].lower().startswith(("pass", "pwd", "kenn", "mot", "contr"))
        close = {"“": "”"}.get(match["quote"], match["quote"])
        end = text.find(close, match.end("quote"), match.end("quote") + _REACH) if close else -1
        phrase = text[match.end("quote") : end] if end > 0 else ""
        if is_password and len(phrase.split()) >= _PHRASE_WORDS:
            yield SecretPlace(PASSWORD, match.end("quote"), end)
        else:
            yield from _yield_value(match, is_password=is_password)
    for match in _AS_NAME.finditer(text):
        yield from _yield_value(match, is_password=True)


_TEMPLATE = lazy_pattern(r"<[\w-]+>|\{[\w-]+\}")
"""A part of a value that stands for another, as in `order:<id>`."""


def _yield_value(match: re.Match[str], *, is_password: bool) -> Iterator[SecretPlace]:
    value = match["value"].rstrip(".,;:!?)\"'`”")
    random = len(value) >= LEAST_TOKEN and is_random(value)
    if _TEMPLATE.search(value):
        return
    if not is_placeholder(value) and (
        random or (is_password and (is_strong(value) or is_generated(value)))
    ):
        start = match.start("value")
        yield SecretPlace(TOKEN if random else PASSWORD, start, start + len(value))


def find_in_columns(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find values in table columns whose heading names a secret."""
    marks = {
        text.rfind("\n", max(0, at - _REACH), at)
        for mark in _ROW_MARKS
        for at in find_each(text, mark)
    }
    after = 0
    for newline in sorted(marks):
        match = _ROW.match(text, newline + 1)
        if newline < max(after, 0) or match is None:
            continue
        top = text.rfind("\n", max(0, newline - 1000), newline) + 1
        heads = lower[top:newline].strip("|> \n").split("|")
        names = {n: name for n, head in enumerate(heads) if (name := _read_heading(head))}
        at = match.end()
        for _ in range(_MOST_ROWS if names else 0):
            end = text.find("\n", at)
            row = text[at : end if end >= 0 else len(text)]
            if "|" not in row:
                break
            yield from _find_in_cells(row, at, names)
            at += len(row) + 1
        after = at - 1


def _read_heading(head: str) -> _Name | None:
    """Return the name of a secret at the end of a column heading."""
    for stem in _STEMS:
        for at in find_each(head, stem):
            name = _read_name(head, at)
            if name and name.end >= len(head.rstrip(" *`")):
                return name
    password = label_ends(head)
    return None if password is None else _Name(head, len(head), password, sure=True)


def _find_in_cells(row: str, at: int, names: Mapping[int, _Name]) -> Iterator[SecretPlace]:
    start = len(row) - len(row.lstrip("> \t"))
    start += row.startswith("|", start)
    for number, cell in enumerate(row[start:].split("|")):
        value = cell.strip(" `*\t\r\"'")
        name = names.get(number)
        if not name or not value or any(char.isspace() for char in value):
            pass
        elif _may_be_value(value, name, tight=True, letters=True):
            begin = at + start + cell.index(value)
            yield SecretPlace(PASSWORD if name.password else TOKEN, begin, begin + len(value))
        start += len(cell) + 1
