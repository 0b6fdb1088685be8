"""Detect secrets of sign-in: passwords, one-time seeds, recovery codes, cookies, Wi-Fi keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memory_bank.base import lazy_pattern
from memory_bank.notes.secrets.placeholders import (
    is_chosen,
    is_generated,
    is_joined,
    is_masked,
    is_placeholder,
    is_random,
    is_strong,
)
from memory_bank.notes.secrets.secret_places import (
    LEAST_TOKEN,
    MOST,
    PASSWORD,
    SecretPlace,
    find_each,
)

SEED, CODE, COOKIE, PHRASE = (
    "seed of one-time codes",
    "recovery code",
    "session cookie",
    "seed phrase",
)

_SEED_WORDS = ("otp", "oath", "2fa", "mfa", "authenticator", "factor", "faktor")

_OTHER_WORD = lazy_pattern(r"(?:re|bene)factor|hotp[a-z]|[a-gi-su-z]otp|[a-z]oath")
"""Words that contain one of these: refactor, hotplug, footprint."""

_SEED = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,128}|[a-z2-7]{16,128}|[A-Za-z2-7]{4}(?:[ -][A-Za-z2-7]{4}){3,31})(?=={0,6}(?![A-Za-z0-9]))"
)

_CONSONANTS = lazy_pattern(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)

_HEX = lazy_pattern(r"[0-9a-f]+", re.IGNORECASE)

_CODE_WORDS = (
    "recovery", "backup code", "backup-code", "backup_code", "backupcode", "scratch code", "rescue code", "emergency code",
    "one-time code", "wiederherstellung", "ersatzcode", "notfallcode", "einmalcode", "bitlocker",
)  # fmt: skip

_CODES_NAMED = lazy_pattern(
    r"(?:recovery|wiederherstellungs?)[ _-]{0,2}(?:codes?|key|schlüssel|kit)|(?:[a-z]{3,9}[ _-]?|ersatz|notfall|einmal)codes?|bitlocker"
)

_ONE_CODE = lazy_pattern(
    r"(?<![\w./#-])(?:[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){1,7}|\d{8}|\d{4} \d{4}|[a-z0-9]{10,64}|[A-Z0-9]{10,64})(?![\w/-])"
)

_BEGINS = lazy_pattern(
    r"(?:^|[:=|>\n–—]|\b(?:is|are|was|were|ist|sind|lautet|lauten)\b)(?:[\s\"'`*_()\[>|•–—+-]|\d{1,2}[.)](?=\s))*$"
)
"""What stands before the first code: nothing, a colon, the start of a list, or `are`."""

_OWN_KEY = lazy_pattern(r"\n(?:id|imported_hash): $")
"""Front-matter keys of a note whose values are random digits."""

_YEARS = lazy_pattern(r"(?:19|20)\d\d(?:[- ](?:19|20)\d\d|[01]\d[0-3]\d)")

_COOKIE_WORDS = ("cookie", "sessionid", "sessid", "connect.sid")

_COOKIE = lazy_pattern(
    r"(?:(?<![?&\w.%-])[\w.-]{1,60}[ ]?=[ ]?"  # name=value
    r"|(?:cookie|session[ _-]?id|sessid|connect\.sid)[\"'`*]{0,3}(?:[ ]is[ ]|[ ]?=[ ]?)"
    r"|(?P<said>[\w.-]{0,30}(?:cookie|sess|session|session[ _-]?id|sid|value)[\"'`*]{0,3}(?::[ ]?|[ ](?=[\"'`]))))[\"'`*]{0,3}"
    r"(?P<value>[A-Za-z0-9%+/_.-]{16,400})={0,2}(?=[\s\"'`;,)}\].]|$)",
    re.IGNORECASE,
)
"""A pair, `name=value`, or a value that is said to be a cookie's."""

_NOT_A_COOKIE = lazy_pattern(r"[/.]|[A-Za-z]+\d?(?:[._-][A-Za-z]+\d{0,2})+\W*$|.*[a-z]{10}")

# Hex digits of SHA-1 and SHA-256, which commits have.
_OF_HASHES = (40, 64)

_WIFI = lazy_pattern(r"[^\n]{0,80}?(?:(?<=;)|(?<=:))P:((?:[^;\\\s]|\\.){6,80}+);")

_PHRASE_WORDS = ("seed", "mnemonic", "recovery phrase")

_PHRASE = lazy_pattern(
    r"[^\n]{0,60}?(?::|=|\bis\b|\n)[\s\"'`]{0,8}((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?=[\"'`]|\.?[ \t]{0,4}(?:\n|$))"
)
"""A seed phrase: 12 to 24 words with no other text."""

# Chosen on planted secrets and real commits (tests/benchmarks/planted.py, refusals.py).
_REACH, _GAP, _MOST_CODES, _LEAST_WORDS, _LONGEST = 160, 80, 12, 10, 400


def find_codes(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find seeds of second factors, recovery codes, session cookies and Wi-Fi keys."""
    yield from _seeds(text, lower)
    for word in _CODE_WORDS:
        end = 0
        for at in find_each(lower, word):
            match = _CODES_NAMED.match(lower, at) if at >= end else None
            for place in _find_listed(text, match.end()) if match else ():
                end = place.end
                yield place
    yield from _cookies(text, lower)
    for at in find_each(text, "WIFI:"):
        key = _WIFI.match(text, at + len("WIFI"))
        if key and not is_placeholder(key[1]):
            yield SecretPlace(PASSWORD, *key.span(1))


def _seeds(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find seeds in base32 and seed phrases of wallets."""
    for word in _SEED_WORDS:
        for at in find_each(lower, word):
            if _OTHER_WORD.search(lower, max(0, at - 4), at + len(word) + 1):
                continue
            for match in _SEED.finditer(text, at, at + _REACH):
                if _is_seed(match[0]):
                    yield SecretPlace(SEED, *match.span())
    for word in _PHRASE_WORDS:
        for at in find_each(lower, word):
            phrase = _PHRASE.match(lower, at + len(word))
            if phrase and len(set(phrase[1].split())) >= _LEAST_WORDS:
                yield SecretPlace(PHRASE, *phrase.span(1))


def _cookies(text: str, lower: str) -> Iterator[SecretPlace]:
    for word in _COOKIE_WORDS:
        for at in find_each(lower, word):
            for match in _COOKIE.finditer(text, at, at + _REACH + _LONGEST):
                value = match["value"]
                if match.start() > at + _REACH:
                    break
                if match["said"] and len(value) in _OF_HASHES and _HEX.fullmatch(value):
                    continue  # a commit or a checksum rather than a session
                if (
                    not _NOT_A_COOKIE.match(value)
                    and not is_placeholder(value)
                    and is_random(value)
                ):
                    yield SecretPlace(COOKIE, *match.span("value"))


def _is_seed(value: str) -> bool:
    """Tell random base32 from words, hexadecimal digits and masks."""
    bare = "".join(char for char in value if char.isalnum())
    if is_masked(bare) or _HEX.fullmatch(bare):
        return False
    return any(char.isdigit() for char in bare) or (
        value.isupper() and bool(_CONSONANTS.search(bare))
    )


def _find_listed(text: str, number: int) -> Iterator[SecretPlace]:
    """Find the codes of a list after their name, each close to the previous one."""
    at, has_begun = number, False
    for _ in range(_MOST_CODES):
        match = _ONE_CODE.search(text, at, at + _GAP)
        if match is None:
            return
        at = match.end()
        has_begun = has_begun or _BEGINS.search(text[number : match.start()]) is not None
        if has_begun and _is_code(match[0]) and not _OWN_KEY.search(text, number, match.start()):
            yield SecretPlace(CODE, *match.span())


def _is_code(value: str) -> bool:
    if is_masked(value) or _YEARS.fullmatch(value) or not any(char.isdigit() for char in value):
        return False
    return "-" in value or " " in value or value.isdigit() or is_random(value)


_ACCESS = (
    "root", "admin", "login", "logged in", "log in", "log on", "logge", "sign in", "signin", "ssh", "get in",
    "anmeld", "melde", "zugang", "credential", "creds", "sudo", "unlock",
    "decrypt", "keystore", "smtp", "ldap", "ipmi", "idrac", "snmp", "ssid", "wlan", "wifi", "wi-fi", "wireless", "wpa",
    "vnc", "rdp", "ftp", "basic auth", "redis", "entsperr", "entschlüssel", "passw", "passphrase", "kennwort", "pw ", "pw?",
)  # fmt: skip
"""Words about access, in lower case."""

_HOLDERS = ("user", "benutzer", "account", "konto", "console", "postgres", " / ")
"""Words that precede ids as often as passwords."""

_ASKED = ("passw", "kennwort", "pw ", "pw?")
"""Words of a question that the next line answers."""

# Chosen on planted secrets and real commits (tests/benchmarks/planted.py, refusals.py).
_LEFT, _RIGHT = 80, 160

_USERS = r"(?:root|admin(?:istrator)?|user|guest|postgres|deploy|manager|ubuntu|operator|service|sa|test)"

_VALUE = lazy_pattern(
    rf"(?:(?<![\w/.:@#=&?%+-])|(?<![^\W_]){_USERS}[:/])(?<!\]\()"
    r"([A-Za-z0-9!][A-Za-z0-9!#$%&*+?@_^~.-]{5,40})(?=[:;]?[\s\"'`|,)<]|$)",
    re.IGNORECASE,
)
"""A single word, or the word after a user, between white space, quotes or table bars."""

_GIVEN = lazy_pattern(
    r"(?<![^\W_])(?P<word>with|using|uses|wants|needs|mit|per|und|and|are|is|it's)[ ]?:?[ ][\"'`]{0,2}$"
    r"|[,:/=–→>-][ ]?[\"'`]{0,2}$",
    re.IGNORECASE,
)
"""Words and signs before a value: log in as root with …"""

_TRAILING = ".,;:*_~"

_PAIRS = ("cred", "login", "log in", "sign in", "zugang", "anmeldedaten")

_PAIR = lazy_pattern(
    r"[a-z]{0,12}\W{0,4}(?:[ ]?(?:is|are|with|as|using|via|mit|als))?[ :]{1,3}"
    r"[`\"'*]{0,2}[\w.@+-]{2,40}[`\"'*]{0,2}[ ]?[:/][ ]?[`\"'*]{0,2}([^\s`\"'|,;<>*]{6,100})"
)

_NETRC = lazy_pattern(r"login[ \t\n]{1,8}\S{1,80}\s{1,8}password\s{1,8}(\S{4,120})")

_PGPASS = lazy_pattern(r":(\d{2,5}|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s:`\"'|]{6,100})")

_PGPASS_PORT = lazy_pattern(r"[56][45]3\d|\*")

_HOST = lazy_pattern(r"(?:^|[^\w:./*-])(?:\*|\d{0,3}[.a-z][\w.-]{1,60})$")

_COMMANDS = (
    "sshpass", "mysql", "mariadb", "mongo", "docker login", "redis-cli", "psql", "ldapsearch", "smbclient", "curl",
    "wget", "http ", "helm ", "podman login", "snmp", "ipmitool", "mosquitto", "net use", "sqlcmd", "cqlsh", "rclone",
    "keytool", "htpasswd", "freerdp", "plink", "influx",
)  # fmt: skip

_OPTION = lazy_pattern(
    r"[^\n]{0,300}?[ ](?:-[paw][ =]?['\"]?(?P<any>[^\s'\"`|;-][^\s'\"`|;]{5,100})"
    r"|(?:-u|-U|--user)[ =]?['\"]?[^\s:%'\"]{1,60}[:%](?P<user>[^\s'\"`|;]{6,100})"
    r"|(?:-[Pc]|-pw|-storepass)[ =]['\"]?(?P<rare>[^\s'\"`|;-][^\s'\"`|;]{5,100}))"
)
"""Options that take a password; those in `rare` often take something else."""

_ECHO = lazy_pattern(r"echo[ ](?:-n[ ])?['\"]?([^\s'\"`|;<>]{7,100})['\"]?(?=[ ]?[|'\"])")


def find_logins(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find passwords of users, programs and servers."""
    yield from _find_near_access(text, lower)
    for word in _PAIRS:
        for at in find_each(lower, word):
            pair = _PAIR.match(text, at + len(word))
            if pair and (is_strong(pair[1]) or is_joined(pair[1].rstrip(_TRAILING))):
                yield SecretPlace(PASSWORD, *pair.span(1))
    for at in find_each(lower, "login"):
        match = _NETRC.match(text, at)
        if match and not is_placeholder(match[1]) and is_chosen(match[1], loose=True):
            yield SecretPlace(PASSWORD, *match.span(1))
    for match in islice(_PGPASS.finditer(text), MOST) if ":" in text else ():
        value = match[2].rstrip(_TRAILING)
        if not _HOST.search(lower, max(0, match.start() - 70), match.start()) or is_placeholder(
            value
        ):
            continue
        if _PGPASS_PORT.match(match[1]) or is_strong(value):
            yield SecretPlace(PASSWORD, match.start(2), match.start(2) + len(value))
    yield from _find_in_commands(text, lower)


def _find_near_access(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find generated values in lines about access, and answers to questions for a password."""
    for word in (*_ACCESS, *_HOLDERS):
        line_end = 0
        for at in find_each(lower, word):
            if at < line_end or lower[at - 1 : at].isalnum():
                continue
            start = max(text.rfind("\n", max(0, at - _LEFT), at) + 1, at - _LEFT, 0)
            line_end = _line_end(text, at, at + _RIGHT)
            is_asked = word in _ASKED and "?" in text[at:line_end]
            if is_asked:
                line_end = _line_end(text, line_end + 1, line_end + _RIGHT)
            for match in _VALUE.finditer(text, start, line_end):
                value = match[1].rstrip(_TRAILING)
                access = _GIVEN.search(text, max(start, match.start(1) - 12), match.start(1))
                is_given = access is not None
                if is_asked and is_given and match.end() == line_end and is_joined(value):
                    sure = True
                elif match.start() < match.start(1) and len(value) >= LEAST_TOKEN:
                    sure = is_random(value) and not is_placeholder(value)
                elif is_generated(value):
                    worded = access is not None and access["word"] is not None
                    sure = word not in _HOLDERS or _is_signed(value) or worded
                else:
                    sure = is_given and _is_signed(value) and is_strong(value)
                if sure:
                    yield SecretPlace(PASSWORD, match.start(1), match.start(1) + len(value))


def _line_end(text: str, start: int, most: int) -> int:
    end = text.find("\n", start, most)
    return end if end >= 0 else min(most, len(text))


def _is_signed(value: str) -> bool:
    """Return whether a value mixes digits, signs and letters, which ids and names don't."""
    classes = (str.isdigit, str.islower, "!#%&*+?$^".__contains__)
    return all(any(map(of, value)) for of in classes)


def _find_in_commands(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find passwords given to programs, as in `curl -u user:…` and `mysql -p…`."""
    for word in _COMMANDS:
        for at in find_each(lower, word):
            match = _OPTION.match(text, at + len(word))
            if match is not None:
                group = match.lastgroup or "any"
                if not is_placeholder(match[group]) and is_chosen(
                    match[group], loose=group != "rare"
                ):
                    yield SecretPlace(PASSWORD, *match.span(group))
    for at in find_each(lower, "echo "):
        match = _ECHO.match(text, at)
        if match and is_generated(match[1]):
            yield SecretPlace(PASSWORD, *match.span(1))
