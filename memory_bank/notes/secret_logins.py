"""Detect passwords near a user, a command or words about access: pairs, netrc, pgpass, prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memory_bank.lazy import pattern
from memory_bank.notes.secret_places import MOST, PASSWORD, Place, each
from memory_bank.notes.secret_words import chosen, drawn, generated, joined, placeholder, strong

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
_LEFT, _RIGHT, _LEAST_TOKEN = 80, 160, 16
_USERS = r"(?:root|admin(?:istrator)?|user|guest|postgres|deploy|manager|ubuntu|operator|service|sa|test)"
_VALUE = pattern(
    rf"(?:(?<![\w/.:@#=&?%+-])|(?<![^\W_]){_USERS}[:/])(?<!\]\()"
    r"([A-Za-z0-9!][A-Za-z0-9!#$%&*+?@_^~.-]{5,40})(?=[:;]?[\s\"'`|,)<]|$)",
    re.IGNORECASE,
)
"""A single word, or the word after a user, between white space, quotes or table bars."""
_GIVEN = pattern(
    r"(?<![^\W_])(?P<word>with|using|uses|wants|needs|mit|per|und|and|are|is|it's)[ ]?:?[ ][\"'`]{0,2}$"
    r"|[,:/=–→>-][ ]?[\"'`]{0,2}$",
    re.IGNORECASE,
)
"""Words and signs before a value: log in as root with …"""
_TRAILING = ".,;:*_~"
_PAIRS = ("cred", "login", "log in", "sign in", "zugang", "anmeldedaten")
_PAIR = pattern(
    r"[a-z]{0,12}\W{0,4}(?:[ ]?(?:is|are|with|as|using|via|mit|als))?[ :]{1,3}"
    r"[`\"'*]{0,2}[\w.@+-]{2,40}[`\"'*]{0,2}[ ]?[:/][ ]?[`\"'*]{0,2}([^\s`\"'|,;<>*]{6,100})"
)
_NETRC = pattern(r"login[ \t\n]{1,8}\S{1,80}\s{1,8}password\s{1,8}(\S{4,120})")
_PGPASS = pattern(r":(\d{2,5}|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s:`\"'|]{6,100})")
_PGPASS_PORT = pattern(r"[56][45]3\d|\*")
_HOST = pattern(r"(?:^|[^\w:./*-])(?:\*|\d{0,3}[.a-z][\w.-]{1,60})$")
_COMMANDS = (
    "sshpass", "mysql", "mariadb", "mongo", "docker login", "redis-cli", "psql", "ldapsearch", "smbclient", "curl",
    "wget", "http ", "helm ", "podman login", "snmp", "ipmitool", "mosquitto", "net use", "sqlcmd", "cqlsh", "rclone",
    "keytool", "htpasswd", "freerdp", "plink", "influx",
)  # fmt: skip
_OPTION = pattern(
    r"[^\n]{0,300}?[ ](?:-[paw][ =]?['\"]?(?P<any>[^\s'\"`|;-][^\s'\"`|;]{5,100})"
    r"|(?:-u|-U|--user)[ =]?['\"]?[^\s:%'\"]{1,60}[:%](?P<user>[^\s'\"`|;]{6,100})"
    r"|(?:-[Pc]|-pw|-storepass)[ =]['\"]?(?P<rare>[^\s'\"`|;-][^\s'\"`|;]{5,100}))"
)
"""Options that take a password; those in `rare` often take something else."""
_ECHO = pattern(r"echo[ ](?:-n[ ])?['\"]?([^\s'\"`|;<>]{7,100})['\"]?(?=[ ]?[|'\"])")


def logins(text: str, lower: str) -> Iterator[Place]:
    """Find passwords of users, programs and servers."""
    yield from _near_access(text, lower)
    for word in _PAIRS:
        for at in each(lower, word):
            pair = _PAIR.match(text, at + len(word))
            if pair and (strong(pair[1]) or joined(pair[1].rstrip(_TRAILING))):
                yield Place(PASSWORD, *pair.span(1))
    for at in each(lower, "login"):
        found = _NETRC.match(text, at)
        if found and not placeholder(found[1]) and chosen(found[1], loose=True):
            yield Place(PASSWORD, *found.span(1))
    for found in islice(_PGPASS.finditer(text), MOST) if ":" in text else ():
        value = found[2].rstrip(_TRAILING)
        if not _HOST.search(lower, max(0, found.start() - 70), found.start()) or placeholder(value):
            continue
        if _PGPASS_PORT.match(found[1]) or strong(value):
            yield Place(PASSWORD, found.start(2), found.start(2) + len(value))
    yield from _in_commands(text, lower)


def _near_access(text: str, lower: str) -> Iterator[Place]:
    """Find generated values in lines about access, and answers to questions for a password."""
    for word in (*_ACCESS, *_HOLDERS):
        done = 0
        for at in each(lower, word):
            if at < done or lower[at - 1 : at].isalnum():
                continue
            start = max(text.rfind("\n", max(0, at - _LEFT), at) + 1, at - _LEFT, 0)
            done = _line_end(text, at, at + _RIGHT)
            answer = word in _ASKED and "?" in text[at:done]
            if answer:
                done = _line_end(text, done + 1, done + _RIGHT)
            for found in _VALUE.finditer(text, start, done):
                value = found[1].rstrip(_TRAILING)
                given = _GIVEN.search(text, max(start, found.start(1) - 12), found.start(1))
                handed = given is not None
                if answer and handed and found.end() == done and joined(value):
                    sure = True
                elif found.start() < found.start(1) and len(value) >= _LEAST_TOKEN:
                    sure = drawn(value) and not placeholder(value)
                elif generated(value):
                    worded = given is not None and given["word"] is not None
                    sure = word not in _HOLDERS or _signed(value) or worded
                else:
                    sure = handed and _signed(value) and strong(value)
                if sure:
                    yield Place(PASSWORD, found.start(1), found.start(1) + len(value))


def _line_end(text: str, start: int, most: int) -> int:
    end = text.find("\n", start, most)
    return end if end >= 0 else min(most, len(text))


def _signed(value: str) -> bool:
    """Tell whether a value mixes digits, signs and letters, which ids and names don't."""
    classes = (str.isdigit, str.islower, "!#%&*+?$^".__contains__)
    return all(any(map(of, value)) for of in classes)


def _in_commands(text: str, lower: str) -> Iterator[Place]:
    """Find passwords given to programs, as in `curl -u user:…` and `mysql -p…`."""
    for word in _COMMANDS:
        for at in each(lower, word):
            found = _OPTION.match(text, at + len(word))
            if found is not None:
                group = found.lastgroup or "any"
                if not placeholder(found[group]) and chosen(found[group], loose=group != "rare"):
                    yield Place(PASSWORD, *found.span(group))
    for at in each(lower, "echo "):
        found = _ECHO.match(text, at)
        if found and generated(found[1]):
            yield Place(PASSWORD, *found.span(1))
