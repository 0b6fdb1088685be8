"""Settings: defaults < user's TOML < project's TOML < environment < flags."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from memory_bank.base import NamedTuple, plugins
from memory_bank.base.errors import BadInput, BadSetting
from memory_bank.base.filenames import SETTINGS
from memory_bank.base.setting_sections import (
    BadTable,
    Code,
    CompressionSettings,
    ContextSettings,
    Key,
    Lint,
    Memory,
    Schema,
    Search,
    Secrets,
    SessionSettings,
    Shared,
    shorten_value,
)

_HUGE = 10**300

_MOST_ITEMS = 100
"""Maximum number of items of a list of paths."""

EMBEDDERS = "search.embedders"
"""The kind of plug-ins that may declare settings."""

_MOST_PROBLEMS = 20

_LONGEST = 500
"""Characters of a problem, which names what is in the file."""

Section = TypeVar("Section")


class SettingProblem(NamedTuple):
    """What is wrong in a file of settings."""

    line: int
    message: str
    hint: str
    ignored: bool = False
    """Whether all else in the file holds nevertheless: only the user may have this setting."""


class Settings(NamedTuple):
    """All settings of one bank, and the origin of each value."""

    memory: Memory = Memory()
    search: Search = Search()
    secrets: Secrets = Secrets()
    sessions: SessionSettings = SessionSettings()
    compression: CompressionSettings = CompressionSettings()
    context: ContextSettings = ContextSettings()
    code: Code = Code()
    lint: Lint = Lint()
    schema: Schema = Schema()
    shared: Shared = Shared()
    embedders: tuple[Any, ...] = ()
    """Sections of embedders in which something is set."""
    origins: Mapping[str, str] = MappingProxyType({})
    problems: tuple[SettingProblem, ...] = ()
    """What is wrong in the project's file, from which these settings are not."""

    def check_enabled(self) -> None:
        """Raise BadInput when memory is turned off here."""
        if not self.memory.enabled:
            where = self.origins.get("memory.enabled", "the settings")
            raise BadInput(
                "memory is turned off for this bank", "set enabled = true ({where})", where=where
            )

    def of(self, kind: Callable[[], Section]) -> Section:
        """Return the section that an embedder declares, by its class."""
        return next((embedder for embedder in self.embedders if type(embedder) is kind), kind())

    def section(self, name: str) -> Any:  # noqa: ANN401  (a named tuple of its own class)
        """Return a section by its name; raise KeyError."""
        return getattr(self, name) if name in _SECTIONS else self.of(load_sections()[name])


_SECTIONS: Mapping[str, Any] = {
    name: type(section)
    for name, section in Settings._field_defaults.items()
    if hasattr(section, "_fields")
}


def load_sections() -> dict[str, Any]:
    """Return the class of each section by its name: ours, then those that embedders declare."""
    declared = {name: _section_class_of(name) for name in plugins.list_plugins(EMBEDDERS)}
    return {**_SECTIONS, **{name: kind for name, kind in declared.items() if kind}}


def _section_class_of(name: str) -> Any:  # noqa: ANN401  (a class of named tuples)
    """Return the class of a section; None if there is none. Imports the embedder of that name."""
    if name in _SECTIONS or not plugins.has(EMBEDDERS, name):
        return _SECTIONS.get(name)
    return getattr(plugins.load(EMBEDDERS, name), "SETTINGS", None)


def load(
    bank: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Read the settings of a bank; raise BadSetting with file and line.

    What a project's file may not set is ignored: see `Settings.problems`. `flags` maps
    "section.key" to a value and has precedence over all other origins.
    """
    environ = os.environ if environ is None else environ
    values, _ = _read_values(user_file(environ), project=False)
    ignored: tuple[SettingProblem, ...] = ()
    if bank is not None:
        of_project, ignored = _read_values(bank / SETTINGS, project=True)
        for name, (value, origin) in of_project.items():
            section, _, key = name.partition(".")
            default, meta = _find_setting(_section_class_of(section), key)
            own = values[name][0] if name in values else default
            if _raises(meta, value, own):
                ignored += (_warn_of_raise(name, origin, own),)
            else:
                values[name] = value, origin
    values.update(_read_environment(environ))
    for name, value in (flags or {}).items():
        values[name] = (_checked_at("flag", name, value), "flag")
    return _assemble(values)._replace(problems=ignored)


def _raises(meta: Key, value: object, own: object) -> bool:
    """Tell whether a project's value is more than the user's own, else than the default."""
    if value in meta.sends:
        return value != own
    if not meta.lowered:
        return False
    if isinstance(value, str) and isinstance(own, str):
        return meta.choices.index(value) > meta.choices.index(own)
    return isinstance(value, int | float) and isinstance(own, int | float) and value > own


def _warn_of_raise(name: str, origin: str, own: object) -> SettingProblem:
    """Return the remark on a project's value that is more than the user's own."""
    text = str(own).lower() if isinstance(own, bool) else str(own)
    return SettingProblem(
        int(origin.rpartition(":")[2]),
        f"a project may not raise {name}: it stays {text}",
        "set it in your own settings, if you want that",
        ignored=True,
    )


def list_problems(bank: Path) -> tuple[SettingProblem, ...]:
    """Return the first things that are wrong in the settings of a bank's own file."""
    path = bank / SETTINGS
    try:
        text, table = read_file(path)
    except BadSetting as error:
        message = error.message.removeprefix(f"{path}: ")
        line = re.search(r"\bline (\d+)", message)
        return (SettingProblem(int(line[1]) if line else 1, message[:_LONGEST], error.hint),)
    parts = _yield_checked(text, table, project=True)
    return tuple(
        islice((part for part in parts if isinstance(part, SettingProblem)), _MOST_PROBLEMS)
    )


def user_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the user's settings, which may not exist."""
    home = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "memory-bank" / "config.toml"


def describe() -> Iterator[tuple[str, str, object, Key]]:
    """Yield every setting: section, key, default, help and limits."""
    for section, kind in load_sections().items():
        for key in kind._fields:
            yield section, key, *_find_setting(kind, key)


_EXAMPLES = {
    "memory.include": '["docs/adr"]',
    "code.exclude": '["vendor/"]',
    "sessions.capture": "false",
}
"""What most projects may want to set."""


def make_template() -> str:
    """Return a settings file that sets nothing: it has a few sections with an example in each."""
    lines = ["# Settings of this bank, none of them required. `memory-bank config` lists all."]
    for section, key, _, meta in describe():
        if example := _EXAMPLES.get(f"{section}.{key}"):
            lines += [f"[{section}]", f"# {key} = {example}  # {meta.told}", ""]
    return "\n".join(lines)


def _assemble(values: Mapping[str, tuple[object, str]]) -> Settings:
    settings = Settings(origins={name: origin for name, (_, origin) in values.items()})
    for section in dict.fromkeys(name.partition(".")[0] for name in values):
        fields = {
            name.partition(".")[2]: value
            for name, (value, _) in values.items()
            if name.startswith(f"{section}.")
        }
        if section in _SECTIONS:
            settings = settings._replace(**{section: getattr(settings, section)._replace(**fields)})
        else:
            embedder = _section_class_of(section)(**fields)
            settings = settings._replace(embedders=(*settings.embedders, embedder))
    return settings


def _read_values(
    path: Path, *, project: bool
) -> tuple[dict[str, tuple[object, str]], tuple[SettingProblem, ...]]:
    """Return the settings of a file, and what is ignored; raise BadSetting."""
    text, table = read_file(path)
    values: dict[str, tuple[object, str]] = {}
    ignored = []
    for part in _yield_checked(text, table, project=project):
        if not isinstance(part, SettingProblem):
            name, value, line = part
            values[name] = value, f"{path}:{line}"
        elif part.ignored:
            ignored.append(part)
        else:
            raise BadSetting(f"{path}:{part.line}: {part.message}", part.hint)
    return values, tuple(ignored)


def _yield_checked(
    text: str, table: Mapping[str, Any], *, project: bool
) -> Iterator[tuple[str, object, int] | SettingProblem]:
    """Yield what a file has: its settings, checked, with their lines, and what is wrong."""
    for section, keys in table.items():
        kind = _section_class_of(section)
        if kind is None or not isinstance(keys, dict):
            line = find_line(text, "", section)
            yield _problem(line, f"unknown setting {section!r}", _list_known(load_sections()))
            continue
        for key, value in _gather_keys(kind, keys).items():
            name, line = f"{section}.{key}", find_line(text, section, key)
            if project and key in kind._fields and _find_setting(kind, key)[1].private:
                yield _refuse_private(line, name)
                continue
            try:
                yield name, _check_value(name, value), line
            except BadSetting as error:
                yield _problem(line, error.message, error.hint)
            except BadTable as error:
                names = (section, *((key,) if key in keys else ()), *error.keys)
                line = find_line(text, ".".join(names[:-1]), names[-1])
                yield _problem(line, f"{'.'.join(names)}: {error.problem}", error.hint)


def _problem(line: int, message: str, hint: str) -> SettingProblem:
    return SettingProblem(line, message[:_LONGEST], hint)


def _refuse_private(line: int, name: str) -> SettingProblem:
    return SettingProblem(
        line,
        f"{name} may not be set by a project: it is ignored",
        "move it to your own settings: no repository chooses hosts, keys, paths or programs",
        ignored=True,
    )


def _gather_keys(kind: Any, keys: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401  (a class)
    """Return the keys of a section; if its tables' names are free, these as one value."""
    rest = next((name for name in kind._fields if _find_setting(kind, name)[1].rest), "")
    if not rest:
        return dict(keys)
    unknown = {key: value for key, value in keys.items() if key in kind._fields and key != rest}
    tables = {key: value for key, value in keys.items() if key not in unknown}
    return {**unknown, rest: tables} if tables else unknown


def _read_environment(environ: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    values: dict[str, tuple[object, str]] = {}
    for section, kind in _sections_in(environ):
        prefix = "" if section == "memory" else f"{section}_"
        for key, default in kind._field_defaults.items():
            if isinstance(default, Mapping):
                continue
            variable = f"MEMORY_BANK_{prefix}{key}".upper()
            text = environ.get(variable)
            if text is not None:
                name = f"{section}.{key}"
                values[name] = (_checked_at(variable, name, parse(text, default)), variable)
    return values


def _sections_in(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield our sections, and those of embedders that variables name, without loading others."""
    yield from _SECTIONS.items()
    ours = [variable for variable in environ if variable.startswith("MEMORY_BANK_")]
    for name in plugins.list_plugins(EMBEDDERS) if ours else ():
        is_named = any(variable.startswith(f"MEMORY_BANK_{name}_".upper()) for variable in ours)
        if is_named and (kind := _section_class_of(name)):
            yield name, kind


def parse(text: str, default: object) -> object:
    """Convert text to the type of the default."""
    if isinstance(default, bool):
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
            text.strip().lower(), text
        )
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    for kind in (int, float):
        if isinstance(default, int | float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _find_setting(kind: Any, key: str) -> tuple[object, Key]:  # noqa: ANN401  (a class of named tuples)
    """Return a setting's default and its Key; raise KeyError."""
    return kind._field_defaults[key], _hints(kind)[key].__metadata__[0]


@cache
def _hints(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401  (a class of named tuples)
    """Return what the fields of a class are declared as; each opened bank asks for each setting."""
    return get_type_hints(kind, include_extras=True)


def _checked_at(where: str, name: str, value: object) -> object:
    """Return a checked value that is from no file; raise BadSetting with the place."""
    try:
        return _check_value(name, value)
    except BadSetting as error:
        raise error.at(where) from error
    except BadTable as error:
        text = ".".join((name, *error.keys))
        raise BadSetting(f"{where}: {text}: {error.problem}", error.hint) from error


def _check_value(name: str, value: object) -> object:
    """Return a value as the setting has it; raise BadSetting, BadTable."""
    section, _, key = name.partition(".")
    kind = _section_class_of(section)
    if kind is None or key not in kind._fields:
        fields = kind._fields if kind else load_sections()
        raise BadSetting(f"unknown setting {name!r}", _list_known(fields))
    default, meta = _find_setting(kind, key)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < _HUGE else math.inf
    if isinstance(default, tuple) and isinstance(value, list | tuple):
        value = tuple(value) if all(isinstance(item, str) for item in value) else value
    if meta.table and isinstance(value, Mapping):
        return meta.table(value)
    if type(value) is not type(default):
        required = {
            bool: "true or false", int: "a whole number", float: "a number", str: "text",
            tuple: "a list of texts", MappingProxyType: "a table",
        }  # fmt: skip
        text = "its value" if meta.private else shorten_value(value)  # it may be a key
        raise BadSetting(f"{name}: {text} is not {required[type(default)]}", meta.help)
    if meta.choices and value not in meta.choices:
        message = f"{name} = {value!r}"
        raise BadSetting(message, "choose one of: {choices}", choices=", ".join(meta.choices))
    if isinstance(value, int | float) and not isinstance(value, bool):
        _check_range(name, value, meta)
    if isinstance(value, tuple) and meta.problem is not None:
        _check_items(name, value, meta.problem)
    return value


def _check_items(name: str, items: tuple[str, ...], problem: Callable[[str], str]) -> None:
    if len(items) > _MOST_ITEMS:
        raise BadSetting(f"{name} has {len(items)} items", f"at most {_MOST_ITEMS}")
    for item in items:
        if reason := problem(item):
            raise BadSetting(f"{name}: {shorten_value(item)} {reason}", "remove or correct it")


def _check_range(name: str, value: float, meta: Key) -> None:
    if not meta.low <= value <= meta.high:  # so written, nan is refused too
        raise BadSetting(
            f"{name} = {shorten_value(value)} is out of range: it must be {meta.range}", meta.help
        )


def _list_known(keys: Iterable[str]) -> str:
    return "known: " + ", ".join(sorted(keys))


_MOST_FILE_BYTES = 1_000_000
"""Maximum size of a file of settings."""


def read_file(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a settings file and its tables; both are empty if there is none.

    Raises BadSetting.
    """
    try:
        data = _start_of(path)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path}: can't be read: {error}", "repair or remove the file") from error
    if len(data) > _MOST_FILE_BYTES:
        raise BadSetting(
            f"{path}: larger than {_MOST_FILE_BYTES:,} bytes", "repair or remove the file"
        )
    if not re.search(r"^\s*[^#\s]", text, re.MULTILINE):
        return text, {}  # only comments, as `init` writes it: spares the import of the parser
    try:
        from memory_bank.base import toml  # start-up: a file of comments needs no parser

        return text, toml.parse_toml(text)
    except ValueError as error:
        raise BadSetting(f"{path}: {error}", "repair the TOML") from error


def find_line(text: str, section: str, key: str) -> int:
    """Find the line of a key in its section; tomllib keeps no positions. Errors only."""
    name = rf"[\"']?{re.escape(key)}[\"']?\s*[=.]"
    table = rf"\s*[\"']?{re.escape(section)}[\"']?\s*"
    inside, top = not section, True
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[++([^\]]*)\]", line)
        if header:
            title = ".".join(part.strip(" \t\"'") for part in header[1].split("."))
            inside, top = title == section, False
            if title == f"{section}.{key}" or (not section and title.split(".")[0] == key):
                return number
        elif inside and re.match(rf"\s*{name}", line):
            return number
        elif top and section and re.match(rf"{table}(\.\s*{name}|=.*\b{name})", line):
            return number  # `section.key = …` or `section = {key = …}`
    return 1


def _start_of(path: Path) -> bytes:
    """Read the first bytes of a regular file; reading a pipe or a terminal might never end."""
    # O_NONBLOCK opens a pipe at once even without a writer
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  (a handle)
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadSetting(f"{path}: is no plain file", "remove it, or make it one")
        return file.read(_MOST_FILE_BYTES + 1)
