"""Values that are secrets because of what stands beside them: `password = …`, URLs, headers."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from memory_bank.notes.secret_words import chosen, drawn, placeholder


class Place(NamedTuple):
    """A value in a text: what it is, where it starts and ends."""

    kind: str
    start: int
    end: int


_STEMS = (
    "pass", "pwd", "secret", "token", "credential", "auth", "kennwort", "contraseña", "pin", "dsn",
    "connection", "key", "pw",
)  # fmt: skip
_NAME = re.compile(
    r"pass(?:word|wort|wd|phrase|code|key)|passw(?![a-z])|pwd|pass(?![a-z])|secret|token|credential"
    r"|kennwort|contraseña|auth(?![a-z])|pin(?![a-z])|dsn(?![a-z])|connection[_ ]?string"
    r"|key(?![a-z])|pw(?![a-z])"
)
"""Words after which a secret may follow, in a text of lower case letters."""
_WHOLE = frozenset(["pass", "auth", "pin", "dsn", "pw"])
"""Names that are no part of a longer word."""
_OWNER = re.compile(
    r"(?:api|access|auth|account|private|encryption|signing|master|storage|licen[sc]e|service|shared|hmac"
    r"|security|webhook|deploy|admin|app|application|project|integration|ingest|write|root|consumer|rest"
    r"|recovery|unseal|global|live|jwt|session|cookie|server|bot|personal|developer"
    r"|heroku|datadog|twilio|cloudflare|stripe|openai|anthropic|aws|azure|google|algolia|mailgun|sendgrid"
    r"|shopify|okta|github|gitlab)[ _.-]?(?:api[ _.-]?)?$"
)
"""What stands before `key` where a key is a secret."""
_BARE_KEY = re.compile(r"[\"'`*_ ]{0,3}(?:[:=]| is )")
_REST = re.compile(r"[A-Za-z0-9_.-]{0,30}")
_NO_VALUE = re.compile(
    r"(?:^|[_.-]|(?<=[a-z]))(?:name|id|ids|type|url|uri|path|file|len(?:gth)?|size|count|limit|hash(?:ed)?|field|policy|ttl"
    r"|expir\w*|prefix|manager|store|reset|mode|enabled?|required|min|max|hint|prompt|label|version"
    r"|endpoint|rotation|usage|budget|izer|ize[ds]?|ization|s?_?per\w*|info|format|source|provider|algorithm"
    r"|input|column|attribute|scope|arn|ref|issuer|audience|kind|types|names|cost|board|binding|word|map)s?$",
    re.IGNORECASE,
)
"""Ends of a name that say something about a secret."""
_PUBLIC = re.compile(
    r"(?:public|publishable|cache|primary|foreign|sort|partition|idempotency|object|map|dict|hot|short|cut"
    r"|arrow|sharing|index|composite|translation|widget|csrf|xsrf|next|page|design|continuation|cancellation"
    r"|commit|host|site|anon)[ _.-]?$"
)
_BETWEEN = re.compile(
    r"""[\\"'`*_\])}]{0,6}                              # what closes the name
    (?:[ ]{0,2}\([^()\n]{1,40}\))?                      # (staging)
    (?:[ ]?:[ ]?(?:[A-Za-z]\w{2,20}\??)(?=[ ]?=))?      # a type, before =
    (?:
        [ \t]{0,20}(?::=|=>|->|→|:{1,2}|={1,2}|\?=|\|+|>|–|—|-(?=[ ]))(?:\*\*|__)?[ \t]{0,20}(?:(?:\|[-+]?|>-?)\n[ \t]{1,12})?
        |[ ]?,[ ]?(?=["'`])
        |["'],?\s{1,20}["']?value["']?\s{0,3}[:=]\s{0,3}
        |\s{1,20}["']?value["']?\s?[:=]\s{0,3}
        |(?:[ ]+(?!is\b|was\b|are\b|to\b|as\b)[A-Za-z(][\w'/.()-]{0,24}){0,6}\s{1,3}(?:is|was|to|as|ist|war|lautet)(?:[ ]+(?:now|currently|still|set[ ]to))?(?:[ ]?:(?=\n)|[ ]?:?[ ])
        |(?:[ ]+(?!is\b|was\b)[A-Za-z(][\w'/.()-]{0,24}){1,5}(?:[ ]?[:=]|[ ]?→|[ ]-)[ ]
        |[ ](?=["'`]|\S{7,})
    )
    (?:(?:(?<=:)|(?<=:[ ])|(?<=:\*\*))[ \t]{0,4}\n(?:[ \t>]{0,8}\n)?[ \t>]{0,8}(?:```\w{0,12}\n[ \t>]{0,8})?(?=[^\s]{6,120}[ \t]{0,4}(?:\n|$)))?
    (?:\*\*|__|[*_(\[<]|\\?["'`“‘]|[bru](?=["']))*
    """,
    re.VERBOSE,
)
"""What may stand between a secret's name and its value."""
_ALLOW = "] allow"
"""Between `[secrets` and hashes of values, which are none: errors show such a line."""
_SAID = re.compile(
    r"\s(?:is|was|to|ist|war|lautet)(?:[ ](?:now|currently|still|set to))?[ ]?:?[ ]$"
)
_VALUE = re.compile(r"""[^\s"'`<>|“”‘’]{4,200}""")
_TRAILING = ".,;:)*_]}\\"
_FLAG = re.compile(r"[ ]{1,4}['\"]?")

_SCHEME = re.compile(r"[ \t:]{1,3}[`\"']?([A-Za-z0-9._~+/=-]{8,4000})")
_USERINFO = re.compile(r"""://([^\s:/@"'`<>()|]{0,80}):([^\s@"'`<>|]{1,200})@(?=[\w.\[$*{-])""")
_BARE_USERINFO = re.compile(r"://([A-Za-z0-9_.~+-]{20,300})(?::x-oauth-basic)?@(?=[\w.\[-])")
_LOGIN = re.compile(r"login[ \t\n]{1,8}\S{1,80}\s{1,8}password\s{1,8}(\S{4,120})")
_COMMANDS = (
    "sshpass", "mysql", "mariadb", "mongo", "docker login", "redis-cli", "psql", "ldapsearch",
    "smbclient", "curl", "wget", "http ", "helm ", "podman login",
)  # fmt: skip
_OPTION = re.compile(
    r"[^\n]{0,300}?[ ](?:-[paw][ =]?['\"]?([^\s'\"`|;-][^\s'\"`|;]{5,100})"
    r"|(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,60}:([^\s'\"`|;]{6,100}))"
)
_LOGINS = ("cred", "login", "log in", "sign in", "signin")
_PAIR = re.compile(
    r"[a-z]{0,10}\W{0,4}(?:[ ]?(?:is|are|with|as|using|via))?[ :]{1,3}"
    r"[`\"'*]{0,2}[\w.@+-]{2,40}[`\"'*]{0,2}[ ]?[:/][ ]?[`\"'*]{0,2}([^\s`\"'|,;<>*]{6,100})"
)
_IS_THE = re.compile(
    r"[ ](?:as|is|for)[ ](?:the|its|their|my|our|a)[ ](?:[\w-]{1,20}[ ]){0,3}?"
    r"(?:password|passphrase|token|secret|api key|access key)"
)
_REACH = 210
_ROW = re.compile(r"[ \t>]{0,8}\|?[ \t:|-]{5,300}\n")
"""The line below the names of a table's columns."""
_MOST_ROWS = 200
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")

_MOST = 20_000
_LEAST_TOKEN, _LEAST_PASSWORD = 16, 6
PASSWORD, TOKEN, URL, HEADER = "password", "token or key", "URL with a password", "auth header"


def named(text: str, lower: str) -> Iterator[Place]:
    """Find values that follow a word for a secret; `lower` is the text in lower case."""
    for stem in _STEMS:
        after = 0
        for start in _each(lower, stem):
            if start < after:
                continue
            name = _name(lower, start)
            end = _end(text, start, name) if name else 0
            place = _value(text, start, end, name) if end else None
            if place is not None:
                after = place.end
                yield place


def _each(text: str, word: str) -> Iterator[int]:
    """Find where a word stands in a text, at most 20,000 times: a book has it less often.

    It is many times faster than a pattern of many words.
    """
    at = text.find(word)
    for _ in range(_MOST):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))


def _name(lower: str, start: int) -> str:
    """Return the name of a secret that starts there; empty if it is part of another word."""
    found = _NAME.match(lower, start)
    if found is None:
        return ""
    before = lower[max(0, start - 24) : start]
    if found[0] in _WHOLE and before[-1:].isalpha():
        return ""
    if found[0] == "key":
        if _OWNER.search(before):
            return "api key"
        bare = not before[-1:].isalpha() and _BARE_KEY.match(lower, found.end())
        return "key" if bare and not _PUBLIC.search(before) else ""
    return "" if _PUBLIC.search(before) else found[0]


def _end(text: str, start: int, name: str) -> int:
    """Return where a longer name, `password_production`, ends; 0 if it is no secret's."""
    end = start + (3 if name == "api key" else len(name))
    rest = _REST.match(text, end)
    suffix = rest[0].rstrip(".-") if rest else ""
    return 0 if _NO_VALUE.search(suffix) else end + len(suffix)


def _value(text: str, start: int, end: int, name: str) -> Place | None:
    """Return the value behind a name that ends there, if it is one that was drawn or chosen."""
    begin = start
    while begin > max(0, start - 40) and (text[begin - 1].isalnum() or text[begin - 1] in "_-"):
        begin -= 1
    between = _BETWEEN.match(text, end)
    if between is None and text.startswith("--", begin):
        between = _FLAG.match(text, end)
    if between is None:
        return None
    gap = between[0]
    if gap.startswith(_ALLOW):
        return None
    raw = _VALUE.match(text, between.end())
    if raw is None:
        return None
    quoted = gap[-1:] in "\"'`“‘" and gap != ""
    value = raw[0] if quoted else raw[0].split(";")[0].rstrip(_TRAILING)
    if not quoted and "&" in value and "=" in value:
        value = value.split("&")[0]
    tight = (
        quoted
        or _SAID.search(gap) is not None
        or gap.rstrip().endswith(("=", ":", "|", ">"))
        or text.startswith("--", begin)
    )
    password = name.startswith(("pass", "pw", "kennwort", "contra", "pin"))
    if gap == " " and (name in _WHOLE or not raw[0].isascii()):
        return None
    if not _secret(value, password=password, tight=tight, sure=name != "key"):
        return None
    at = between.end()
    return Place(PASSWORD if password else TOKEN, at, at + len(value))


def _secret(value: str, *, password: bool, tight: bool, sure: bool) -> bool:
    if placeholder(value) or "](" in value or "://" in value:
        return False
    if len(value) >= _LEAST_TOKEN and (_UUID.fullmatch(value) or drawn(value)):
        return sure or len(value) >= 2 * _LEAST_TOKEN
    if not sure or len(value) < _LEAST_PASSWORD:
        return False
    return chosen(value, loose=password and tight)


def others(text: str, lower: str) -> Iterator[Place]:
    """Find passwords in URLs, headers, netrc files, command lines and pairs of user and password."""
    if "://" in text:
        yield from _in_urls(text)
    yield from _in_headers(text, lower)
    for at in _each(lower, "login"):
        found = _LOGIN.match(text, at)
        if found and not placeholder(found[1]) and chosen(found[1], loose=True):
            yield Place(PASSWORD, *found.span(1))
    yield from _in_commands(text, lower)
    for word in _LOGINS:
        for at in _each(lower, word):
            pair = _PAIR.match(text, at + len(word))
            if pair and _strong(pair[1]):
                yield Place(PASSWORD, *pair.span(1))
    yield from _said_to_be(text, lower)
    if "|" in text:
        yield from _in_columns(text, lower)


def _said_to_be(text: str, lower: str) -> Iterator[Place]:
    """Find values before the word, as in: use … as the API key."""
    for word in (" as ", " is ", " for "):
        for at in _each(lower, word):
            if text[at - 1].isspace() or not _IS_THE.match(lower, at):
                continue
            start = max(text.rfind(mark, max(0, at - _REACH), at) for mark in " \n(") + 1
            value = text[start:at].strip("`\"'*")
            if len(value) >= _LEAST_TOKEN and not placeholder(value) and drawn(value):
                yield Place(TOKEN, start, at)
            elif text[at - 1] in "`\"'" and _strong(value):
                yield Place(PASSWORD, start, at)


def _in_columns(text: str, lower: str) -> Iterator[Place]:
    """Find values in the columns of tables that are headed by a word for a secret."""
    after = 0
    for found in islice(_ROW.finditer(text), _MOST):
        if (
            found.start() < after
            or text[found.start() - 1 : found.start()] != "\n"
            or "-" not in found[0]
        ):
            continue
        top = text.rfind("\n", max(0, found.start() - 1000), found.start() - 1) + 1
        heads = lower[top : found.start()].strip("|> \n").split("|")
        wanted = {n: head for n, head in enumerate(heads) if _heads(head)}
        at = found.end()
        for _ in range(_MOST_ROWS if wanted else 0):
            end = text.find("\n", at)
            row = text[at : end if end >= 0 else len(text)]
            if "|" not in row:
                break
            yield from _cells(row, at, wanted)
            at += len(row) + 1
        after = at


def _heads(head: str) -> bool:
    """Tell whether a column's name is that of a secret."""
    return any(
        (name := _name(head, at))
        and (end := _end(head, at, name))
        and end >= len(head.rstrip(" *`"))
        for stem in _STEMS
        for at in _each(head, stem)
    )


def _cells(row: str, at: int, wanted: Mapping[int, str]) -> Iterator[Place]:
    start = len(row) - len(row.lstrip("> \t"))
    start += row.startswith("|", start)
    for number, cell in enumerate(row[start:].split("|")):
        value = cell.strip(" `*\t\r\"'")
        if number in wanted and value and not any(char.isspace() for char in value):
            password = "pass" in wanted[number] or "pw" in wanted[number]
            if _secret(value, password=password, tight=True, sure="key" not in wanted[number]):
                begin = at + start + cell.index(value)
                yield Place(PASSWORD if password else TOKEN, begin, begin + len(value))
        start += len(cell) + 1


def _strong(value: str) -> bool:
    return not placeholder(value) and chosen(value.rstrip(_TRAILING), loose=False)


def _in_commands(text: str, lower: str) -> Iterator[Place]:
    """Find passwords given to programs, as in `curl -u user:…` and `mysql -p…`."""
    for word in _COMMANDS:
        for at in _each(lower, word):
            found = _OPTION.match(text, at + len(word))
            if found is not None:
                group = found.lastindex or 1
                if not placeholder(found[group]) and chosen(found[group], loose=True):
                    yield Place(PASSWORD, *found.span(group))


def _in_urls(text: str) -> Iterator[Place]:
    for at in _each(text, "://"):
        found = _USERINFO.match(text, at)
        bare = None if found else _BARE_USERINFO.match(text, at)
        if bare and not placeholder(bare[1]) and drawn(bare[1]):
            yield Place(URL, *bare.span(1))
        if found is None:
            continue
        user, value = found[1], found[2]
        if (
            len(value) >= _LEAST_PASSWORD
            and value != user
            and not placeholder(value)
            and "/" not in value[:1]
        ):
            yield Place(URL, *found.span(2))


def _in_headers(text: str, lower: str) -> Iterator[Place]:
    for word in ("bearer", "basic"):
        for at in _each(lower, word):
            value = _SCHEME.match(text, at + len(word))
            if value is None or placeholder(value[1]):
                continue
            if word == "basic":
                sure = _pair(value[1])
            else:
                sure = len(value[1]) >= _LEAST_TOKEN and drawn(value[1])
            if sure:
                yield Place(HEADER, *value.span(1))


def _pair(value: str) -> bool:
    """Tell whether base64 holds a user and a password that is no placeholder."""
    try:
        decoded = b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (NotBase64, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and user and decoded.isprintable()) and not placeholder(password)
