"""The URL of a shared index without its password, and web addresses of a repository's lines.

The password goes to the server only: over TLS with a verified certificate, unless the server is on
this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote, urlsplit

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadSetting

EMBEDDED = "embedded:"
"""Start of the URL of a server of this machine in a folder, which is started when needed."""

FORMS = ("postgresql://", "postgres://", EMBEDDED)

_STRICT = "verify-full"

_HINT = "write postgresql://USER@HOST/DATABASE, or embedded:FOLDER"

UNREADABLE = "the URL of the shared index can't be read"

QUOTE = "quote special characters of user and password, as in %40 for @ and %2F for /"

_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain"})


def check_form(url: str) -> None:
    """Raise BadSetting for what is no URL of a shared index; the error does not show it."""
    if not url.startswith(FORMS) or "\0" in url:
        raise BadSetting("the URL of the shared index has no known form", _HINT)
    if url.startswith(EMBEDDED) and not url.removeprefix(EMBEDDED).strip():
        raise BadSetting("the URL of the shared index names no folder", _HINT)


def check_parts(fields: Mapping[str, str]) -> None:
    """Raise BadSetting if a part may be that of a password with characters that are not quoted."""
    ports = fields.get("port", "").replace(",", "")
    host = fields.get("host", "")
    names = host.removeprefix("@") + fields.get("hostaddr", "") + fields.get("dbname", "")
    if (ports and not ports.isdigit()) or "@" in names:
        raise BadSetting(UNREADABLE, QUOTE)


def require_tls(
    fields: Mapping[str, str], environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the parameters of a connection, with TLS verified unless the server is local.

    Raises BadSetting for a weaker `sslmode`. A service file may name any host, so that it counts as
    another machine.
    """
    values = dict(fields)
    if is_local(values, environ):
        return values
    mode = values.get("sslmode") or environ.get("PGSSLMODE") or _STRICT
    if mode != _STRICT:
        raise BadSetting(
            f"sslmode={mode} does not verify the server of the shared index",
            f"remove it, or write sslmode={_STRICT}: its certificate must name the host",
        )
    values["sslmode"] = _STRICT
    values["gssencmode"] = "disable"  # is tried first, and verifies no certificate
    own = Path(environ.get("HOME") or Path.home(), ".postgresql", "root.crt")
    if not (values.get("sslrootcert") or environ.get("PGSSLROOTCERT") or own.exists()):
        values["sslrootcert"] = "system"
    return values


def is_local(fields: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a connection stays on this machine: a Unix socket, or a loopback address."""
    if fields.get("service") or environ.get("PGSERVICE"):
        return False
    hosts = _split_hosts(fields.get("host") or environ.get("PGHOST") or "")
    addresses = _split_hosts(fields.get("hostaddr") or environ.get("PGHOSTADDR") or "")
    return all(map(_is_loopback, addresses)) and all(
        not host or host.startswith(("/", "@")) or _is_loopback(host) for host in hosts
    )


def show_server(fields: Mapping[str, str]) -> str:
    """Return where a server is, without user and password."""
    host = fields.get("host") or fields.get("hostaddr") or "local socket"
    port = f":{fields['port']}" if fields.get("port") else ""
    return f"{host}{port}/{fields.get('dbname') or fields.get('user') or ''}".rstrip("/")


def _split_hosts(hosts: str) -> list[str]:
    return [part.strip() for part in hosts.split(",")] if hosts else []


def _is_loopback(host: str) -> bool:
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


_SCP = lazy_pattern(r"(?:[^@/:]+@)?(\[[^\]]+\]|[^/:]+):(?!//)(.+)", re.DOTALL)
"""`git@host:owner/name.git`; also a Windows path, whose host has one letter."""

_FOLDED = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts on which the names of owners and repositories have no case."""

_ALIASES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
            "altssh.bitbucket.org": "bitbucket.org", "www.github.com": "github.com"}  # fmt: skip

_WEB_SCHEMES = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https"})

_MOST = 300
"""Maximum length of a repository's name."""

_FORMS = {
    "gitlab": "/-/blob/{commit}/{file}?plain=1#L{line}",
    "bitbucket": "/src/{commit}/{file}#lines-{line}",
    "gitea": "/src/commit/{commit}/{file}?display=source#L{line}",
    "github": "/blob/{commit}/{file}?plain=1#L{line}",
}
"""What follows the address of a repository, by the program that serves it."""

_NAMED = {"gitlab": "gitlab", "bitbucket": "bitbucket", "gitea": "gitea", "forgejo": "gitea",
          "codeberg": "gitea", "github": "github"}  # fmt: skip
"""Parts of host names that tell the program."""

_VARIABLES = {"GITLAB_CI": "gitlab", "BITBUCKET_BUILD_NUMBER": "bitbucket",
              "GITEA_ACTIONS": "gitea", "FORGEJO_ACTIONS": "gitea"}  # fmt: skip
"""Variables that a program sets in its own CI."""


def parse_remote(url: str, environ: Mapping[str, str] = os.environ) -> tuple[str, str] | None:
    """Return the repository that a remote's URL names; None for a path, or what is no URL.

    The name is `host/owner/name`, without credentials, port and `.git`; then comes the template of
    the web address of a line, empty if there is none.
    """
    url = url.strip()
    secure, port = True, ""
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, number = parts.hostname or "", parts.port
        except ValueError:
            return None
        if parts.scheme.lower() not in _WEB_SCHEMES:
            return None
        path = parts.path
        if parts.scheme.lower() in {"http", "https"} and number:
            port = f":{number}"
        secure = parts.scheme.lower() != "http"
    else:
        match = _SCP.fullmatch(url)
        if match is None or len(match[1]) == 1:
            return None
        host, path = match[1].lower(), match[2]
    host = _ALIASES.get(host, host).rstrip(".")
    path = path.strip("/").removesuffix(".git").strip("/")
    if host in _FOLDED:
        path = path.lower()
    name = f"{host}/{path}"
    if not (host and path) or find_url_problem(name):
        return None
    base = f"http{'s' * secure}://{host}{port}/{quote(path)}"
    return name, base + _FORMS[_program(host, environ)]


def find_url_problem(name: str) -> str:
    """Return why a text can't name a repository; empty if it can."""
    if not name.strip("/ "):
        return "is empty"
    if len(name) > _MOST:
        return f"is longer than {_MOST} characters"
    if any(char.isspace() or not char.isprintable() for char in name):
        return "has white space or characters that nobody sees"
    if any(part in {"", ".", ".."} for part in name.split("/")):
        return "has an empty part, `.` or `..`"
    return ""


def line_address(template: str, commit: str, file: str, line: int) -> str:
    """Return the web address of a line; empty if the template is none of ours.

    A template comes from whoever published: it makes nothing but a web address.
    """
    base, form = next(
        (
            (template.removesuffix(form), form)
            for form in _FORMS.values()
            if template.endswith(form)
        ),
        ("", ""),
    )
    if not base.startswith(("https://", "http://")) or "{" in base:
        return ""
    if any(char.isspace() or not char.isprintable() or char in "<>\"'`" for char in base):
        return ""
    return base + form.format(commit=quote(commit, safe=""), file=quote(file), line=line)


def _program(host: str, environ: Mapping[str, str]) -> str:
    provider = next((program for part, program in _NAMED.items() if part in host), "")
    in_ci = next(
        (setting for variable, setting in _VARIABLES.items() if environ.get(variable)),
        "",
    )
    return provider or in_ci or "github"
