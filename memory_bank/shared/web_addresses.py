"""Name a repository by its remote, and make the web addresses of its lines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

_SCP = re.compile(r"(?:[^@/:]+@)?(\[[^\]]+\]|[^/:]+):(?!//)(.+)", re.DOTALL)
"""`git@host:owner/name.git`; also a Windows path, whose host has one letter."""
_FOLDED = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts on which the names of owners and repositories have no case."""
_ALIASES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
            "altssh.bitbucket.org": "bitbucket.org", "www.github.com": "github.com"}  # fmt: skip
_SCHEMES = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https"})
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


class Remote(NamedTuple):
    """The repository that a remote's URL names."""

    name: str
    """`host/owner/name`, without credentials, port and `.git`."""
    web: str
    """Template of the web address of a line; empty if there is none."""


def remote_of(url: str, environ: Mapping[str, str] = os.environ) -> Remote | None:
    """Return the repository of a remote's URL; None for a path, or what is no URL."""
    url = url.strip()
    secure, port = True, ""
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, number = parts.hostname or "", parts.port
        except ValueError:
            return None
        if parts.scheme.lower() not in _SCHEMES:
            return None
        path = parts.path
        if parts.scheme.lower() in {"http", "https"} and number:
            port = f":{number}"
        secure = parts.scheme.lower() != "http"
    else:
        found = _SCP.fullmatch(url)
        if found is None or len(found[1]) == 1:
            return None
        host, path = found[1].lower(), found[2]
    host = _ALIASES.get(host, host).rstrip(".")
    path = path.strip("/").removesuffix(".git").strip("/")
    if host in _FOLDED:
        path = path.lower()
    name = f"{host}/{path}"
    if not (host and path) or problem_of(name):
        return None
    base = f"http{'s' * secure}://{host}{port}/{quote(path)}"
    return Remote(name, base + _FORMS[_program(host, environ)])


def problem_of(name: str) -> str:
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


def address(template: str, commit: str, file: str, line: int) -> str:
    """Return the web address of a line; empty if the template is none of ours.

    A template comes from whoever published: it makes nothing but a web address.
    """
    base, form = next(
        ((template.removesuffix(one), one) for one in _FORMS.values() if template.endswith(one)),
        ("", ""),
    )
    if not base.startswith(("https://", "http://")) or "{" in base:
        return ""
    if any(char.isspace() or not char.isprintable() or char in "<>\"'`" for char in base):
        return ""
    return base + form.format(commit=quote(commit, safe=""), file=quote(file), line=line)


def _program(host: str, environ: Mapping[str, str]) -> str:
    known = next((program for part, program in _NAMED.items() if part in host), "")
    in_ci = next((one for variable, one in _VARIABLES.items() if environ.get(variable)), "")
    return known or in_ci or "github"
