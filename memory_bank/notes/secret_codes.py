"""Detect secrets of sign-in other than passwords: one-time seeds, recovery codes, cookies, Wi-Fi keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.lazy import pattern
from memory_bank.notes.secret_places import PASSWORD, Place, each
from memory_bank.notes.secret_words import drawn, masked, placeholder

SEED, CODE, COOKIE, PHRASE = (
    "seed of one-time codes",
    "recovery code",
    "session cookie",
    "seed phrase",
)
_SEED_WORDS = ("otp", "oath", "2fa", "mfa", "authenticator", "factor", "faktor")
_OTHER_WORD = pattern(r"(?:re|bene)factor|hotp[a-z]|[a-gi-su-z]otp|[a-z]oath")
"""Words that contain one of these: refactor, hotplug, footprint."""
_SEED = pattern(
    r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,128}|[a-z2-7]{16,128}|[A-Za-z2-7]{4}(?:[ -][A-Za-z2-7]{4}){3,31})(?=={0,6}(?![A-Za-z0-9]))"
)
_CONSONANTS = pattern(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_HEX = pattern(r"[0-9a-f]+", re.IGNORECASE)
_CODE_WORDS = (
    "recovery", "backup code", "backup-code", "backup_code", "backupcode", "scratch code", "rescue code", "emergency code",
    "one-time code", "wiederherstellung", "ersatzcode", "notfallcode", "einmalcode", "bitlocker",
)  # fmt: skip
_CODES_NAMED = pattern(
    r"(?:recovery|wiederherstellungs?)[ _-]{0,2}(?:codes?|key|schlüssel|kit)|(?:[a-z]{3,9}[ _-]?|ersatz|notfall|einmal)codes?|bitlocker"
)
_ONE_CODE = pattern(
    r"(?<![\w./#-])(?:[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){1,7}|\d{8}|\d{4} \d{4}|[a-z0-9]{10,64}|[A-Z0-9]{10,64})(?![\w/-])"
)
_BEGINS = pattern(
    r"(?:^|[:=|>\n–—]|\b(?:is|are|was|were|ist|sind|lautet|lauten)\b)(?:[\s\"'`*_()\[>|•–—+-]|\d{1,2}[.)](?=\s))*$"
)
"""What stands before the first code: nothing, a colon, the start of a list, or `are`."""
_YEARS = pattern(r"(?:19|20)\d\d(?:[- ](?:19|20)\d\d|[01]\d[0-3]\d)")
_COOKIE_WORDS = ("cookie", "sessionid", "sessid", "connect.sid")
_COOKIE = pattern(
    r"(?:(?<![?&\w.%-])[\w.-]{1,60}[ ]?=[ ]?"  # name=value
    r"|(?:cookie|session[ _-]?id|sessid|connect\.sid)[\"'`*]{0,3}(?:[ ]is[ ]|[ ]?=[ ]?)"
    r"|(?P<said>[\w.-]{0,30}(?:cookie|sess|session|session[ _-]?id|sid|value)[\"'`*]{0,3}(?::[ ]?|[ ](?=[\"'`]))))[\"'`*]{0,3}"
    r"(?P<value>[A-Za-z0-9%+/_.-]{16,400})={0,2}(?=[\s\"'`;,)}\].]|$)",
    re.IGNORECASE,
)
"""A pair, `name=value`, or a value that is said to be a cookie's."""
_NOT_A_COOKIE = pattern(r"[/.]|[A-Za-z]+\d?(?:[._-][A-Za-z]+\d{0,2})+\W*$|.*[a-z]{10}")
_OF_HASHES = (40, 64)
_WIFI = pattern(r"[^\n]{0,80}?(?:(?<=;)|(?<=:))P:((?:[^;\\\s]|\\.){6,80}+);")
_PHRASE_WORDS = ("seed", "mnemonic", "recovery phrase")
_PHRASE = pattern(
    r"[^\n]{0,60}?(?::|=|\bis\b|\n)[\s\"'`]{0,8}((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?=[\"'`]|\.?[ \t]{0,4}(?:\n|$))"
)
"""A seed phrase: 12 to 24 words with no other text."""
_REACH, _GAP, _MOST_CODES, _LEAST_WORDS, _LONGEST = 160, 80, 12, 10, 400


def codes(text: str, lower: str) -> Iterator[Place]:
    """Find seeds of second factors, recovery codes, session cookies and Wi-Fi keys."""
    yield from _seeds(text, lower)
    for word in _CODE_WORDS:
        done = 0
        for at in each(lower, word):
            named = _CODES_NAMED.match(lower, at) if at >= done else None
            for place in _listed(text, named.end()) if named else ():
                done = place.end
                yield place
    yield from _cookies(text, lower)
    for at in each(text, "WIFI:"):
        key = _WIFI.match(text, at + len("WIFI"))
        if key and not placeholder(key[1]):
            yield Place(PASSWORD, *key.span(1))


def _seeds(text: str, lower: str) -> Iterator[Place]:
    """Find seeds in base32 and seed phrases of wallets."""
    for word in _SEED_WORDS:
        for at in each(lower, word):
            if _OTHER_WORD.search(lower, max(0, at - 4), at + len(word) + 1):
                continue
            for found in _SEED.finditer(text, at, at + _REACH):
                if _is_seed(found[0]):
                    yield Place(SEED, *found.span())
    for word in _PHRASE_WORDS:
        for at in each(lower, word):
            phrase = _PHRASE.match(lower, at + len(word))
            if phrase and len(set(phrase[1].split())) >= _LEAST_WORDS:
                yield Place(PHRASE, *phrase.span(1))


def _cookies(text: str, lower: str) -> Iterator[Place]:
    for word in _COOKIE_WORDS:
        for at in each(lower, word):
            for found in _COOKIE.finditer(text, at, at + _REACH + _LONGEST):
                value = found["value"]
                if found.start() > at + _REACH:
                    break
                if found["said"] and len(value) in _OF_HASHES and _HEX.fullmatch(value):
                    continue  # a commit or a checksum rather than a session
                if not _NOT_A_COOKIE.match(value) and not placeholder(value) and drawn(value):
                    yield Place(COOKIE, *found.span("value"))


def _is_seed(value: str) -> bool:
    """Tell random base32 from words, hexadecimal digits and masks."""
    bare = "".join(char for char in value if char.isalnum())
    if masked(bare) or _HEX.fullmatch(bare):
        return False
    return any(char.isdigit() for char in bare) or (
        value.isupper() and bool(_CONSONANTS.search(bare))
    )


def _listed(text: str, named: int) -> Iterator[Place]:
    """Find the codes of a list after their name, each close to the previous one."""
    at, begun = named, False
    for _ in range(_MOST_CODES):
        found = _ONE_CODE.search(text, at, at + _GAP)
        if found is None:
            return
        at = found.end()
        begun = begun or _BEGINS.search(text[named : found.start()]) is not None
        if begun and _is_code(found[0]):
            yield Place(CODE, *found.span())


def _is_code(value: str) -> bool:
    if masked(value) or _YEARS.fullmatch(value) or not any(char.isdigit() for char in value):
        return False
    return "-" in value or " " in value or value.isdigit() or drawn(value)
