import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import memory_bank
from memory_bank.bank.bank import open_bank
from memory_bank.base import settings
from memory_bank.frontends.cli.root import root
from memory_bank.frontends.mcp import toolbox
from memory_bank.frontends.mcp.toolbox import Toolbox
from memory_bank.memory.retrieval.recall import recall

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^(```+)(\w*)[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CALL = re.compile(r"\b(?:memory-bank|mb) +([^|;&`]*)")
_OPTION = re.compile(r"--?[a-z][a-z-]*\b")
_SETTING = re.compile(rf"`((?:{'|'.join(settings.load_sections())})\.[a-z_]+)`")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)

# Pages whose Python is run, one example after the other in one bank.
PYTHON = ("docs/python.md",)


def pages() -> list[object]:
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES]


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def fences(page: Path, *languages: str) -> Iterator[str]:
    for _, language, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language in languages:
            yield text


def anchors(page: Path) -> set[str]:
    kept = (re.sub(r"[^\w\- ]", "", head.lower()) for head in _HEADING.findall(prose(page)))
    return {head.replace(" ", "-") for head in kept}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from leaves(inner, (*path, name))


def find(words: list[str]) -> tuple[str, ...]:
    """Return the longest path of commands that these words start with."""
    command: click.Command = root()
    path: tuple[str, ...] = ()
    for word in words:
        if not isinstance(command, click.Group):
            break
        inner = command.get_command(click.Context(command), word)
        if inner is None:
            break
        command, path = inner, (*path, word)
    return path


def command_at(path: tuple[str, ...]) -> click.Command:
    command: click.Command = root()
    for name in path:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        command = inner
    return command


def is_group(path: tuple[str, ...]) -> bool:
    return bool(path) and isinstance(command_at(path), click.Group)


def options(path: tuple[str, ...]) -> set[str]:
    command = command_at(path)
    given = [param for param in command.params if isinstance(param, click.Option)]
    return {name for option in given for name in (*option.opts, *option.secondary_opts)}


def calls(page: Path) -> Iterator[str]:
    """Yield what follows the program's name in prose's code and in the commands of fences."""
    folded = (re.sub(r"\s+", " ", code) for code in _CODE.findall(prose(page)))
    for code in folded:
        if found := _CALL.match(code):
            yield found[1]
    for text in fences(page, "bash", "console"):
        # texts in quotes are no options; what a program prints is no command
        joined = re.sub(r'"[^"]*"', "''", text).replace("\\\n", " ")
        for line in joined.splitlines():
            bare = re.sub(r"'[^']*'|(?<=\s)#.*", "''", line).removeprefix("$ ")
            if line.startswith("$ ") or "$ " not in text:
                yield from (found[1] for found in _CALL.finditer(bare))
    for text in fences(page, "text"):  # what to do, then the command
        yield from re.findall(r"  mb (.*)$", re.sub(r'"[^"]*"', "''", text), re.MULTILINE)


@pytest.mark.parametrize("page", pages())
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    lost = []
    for link in _LINK.findall(_CODE.sub("", prose(page))):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        file = (page.parent / target).resolve() if target else page
        found = file.exists() and file.is_relative_to(ROOT)
        if not found or (anchor and anchor not in anchors(file)):
            lost.append(link)
    assert not lost


@pytest.mark.parametrize("page", pages())
def test_every_command_and_option_that_is_shown_exists(page: Path) -> None:
    wrong = []
    for call in calls(page):
        words = call.split()
        path = find(words)
        named = bool(words) and re.fullmatch(r"[a-z]+", words[0]) is not None
        rest = words[len(path) : len(path) + 1] if is_group(path) else []
        unknown = set(_OPTION.findall(" ".join(w for w in words if w.startswith("-"))))
        unknown -= options(path)
        if (named and not path) or unknown or (rest and re.fullmatch("[a-z-]+", rest[0])):
            wrong.append((call, sorted(unknown)))
    assert not wrong


@pytest.mark.parametrize("path", [pytest.param(p, id=" ".join(p)) for p in leaves(root())])
def test_every_command_and_option_is_described(path: tuple[str, ...]) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    words, _, reference = text.partition("\n## Options\n")
    once, _, blocks = reference.partition("<!--options:")
    own = "".join(re.findall(rf"^{' '.join(path)}\b.*\n(?:    .*\n)*", blocks, re.MULTILINE))
    assert re.search(rf"\bmb {' '.join(path)}\b", words)
    assert not options(path) - set(re.findall(r"--?[a-z-]+", once + own))


def test_settings_and_their_page_agree() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    blocks = re.findall(
        r"^<!--settings:\w+-->\n```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    shown = tomllib.loads("".join(blocks))
    known = [one for one in settings.describe() if not one[3].table]
    assert set(_SETTING.findall(text)) <= {f"{one[0]}.{one[1]}" for one in settings.describe()}
    assert sum(map(len, shown.values())) == len(known)
    for section, key, default, meta in known:
        value = list(default) if isinstance(default, tuple) else default
        assert shown[section][key] == value
        block = next(one for one in blocks if one.startswith(f"[{section}]"))
        (said,) = re.findall(rf"^{key} = .*?# (.*)$", block, re.MULTILINE)
        assert said.startswith("private: ") == meta.private, key
        assert all(choice in said for choice in meta.choices), key
        assert said.endswith(f"; {meta.range}") or not meta.range, key


def test_the_page_names_the_variable_of_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for variable, section, key in (
        ("MEMORY_BANK_SEARCH_LIMIT", "search", "limit"),
        ("MEMORY_BANK_MAX_NOTE_BYTES", "memory", "max_note_bytes"),
    ):
        assert f"`{variable}`" in text
        monkeypatch.setenv(variable, "7")
        assert getattr(getattr(settings.load(), section), key) == 7


def test_every_public_name_is_described() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in memory_bank.__all__ if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("page", PYTHON)
def test_the_python_that_is_shown_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = list(fences(ROOT / page, "python"))
    assert shown
    for text in shown:
        exec(compile(text, page, "exec"), {})  # noqa: S102  (our own page)
    assert ".md" in capsys.readouterr().out
    with open_bank() as bank:
        assert recall(bank, "tabs retries", count_access=False).result_count == 1


def test_the_readme_has_the_line_that_ci_runs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    between = text.partition("<!-- test -->\n")[2].partition("<!-- /test -->")[0]
    assert re.findall(r"^(?:pip|python)\b.*", between, re.MULTILINE) == [
        "pip install -q -e '.[test]' && python -m pytest"
    ]


@pytest.mark.parametrize("page", pages())
def test_nothing_is_said_of_the_machine_it_was_written_on(page: Path) -> None:
    assert not re.findall(r"/(?:tmp|work|home|root|opt)/\S+", page.read_text(encoding="utf-8"))


def test_the_architecture_has_every_layer_in_order() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = text.partition("```text\n")[2].partition("```")[0]
    shown = [re.split(r" {2,}", line)[0] for line in block.splitlines()]
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        one["layers"] for one in rules["tool"]["importlinter"]["contracts"] if "layers" in one
    )
    order = [layer.replace("memory_bank.", "").split(" | ") for layer in layers]
    place = {name: at for at, names in enumerate(order) for name in names}
    named = [name for names in shown for name in names.split(" | ")]
    assert sorted(named) == sorted(place)
    assert [place[name] for name in named] == sorted(place[name] for name in named)
    package = (ROOT / "memory_bank").glob("[!_]*")
    assert {one.stem for one in package if one.suffix in ("", ".py")} | {"__main__"} == set(place)


def test_the_architecture_names_files_that_exist() -> None:
    text = _FENCE.sub("", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py|(?:[a-z_]+/)+)`", text)
    files = [file for top in ("memory_bank", "tests") for file in (ROOT / top).rglob("*.py")]
    known = "".join(f"/{file.relative_to(ROOT).as_posix()}\n" for file in files)
    ends = [f"/{name}" if name.endswith("/") else f"/{name}\n" for name in named]
    derived = {"/keyword/", "/notes/", "/vectors/"}  # folders of the index
    assert [end for end in ends if end not in known and end not in derived] == []


def measured() -> tuple[int, set[str], dict[str, tuple[str, str]]]:
    """Return the number of the default tools, their tokens in total, and those of each."""
    plain = toolbox.count_cost(Toolbox())
    totals = {plain.model_tokens, plain.tokens, toolbox.LIMIT}
    each = {one.name: (f"{one.model_tokens:,}", f"{one.tokens:,}") for one in plain.tools}
    each["all"] = (f"{plain.model_tokens:,}", f"{plain.tokens:,}")
    return len(plain.tools), {f"{one:,}" for one in totals}, each


def test_numbers_of_tools_and_of_their_tokens_are_those_that_are_measured() -> None:
    number, totals, _ = measured()
    compared = 0
    for page in PAGES:
        for words in re.split(r"\n\s*\n|\n(?=[-*|] )", prose(page)):
            counts = [int(one) for one in re.findall(r"\b(\d+) (?:\w+ )?tools\b", words)]
            assert set(counts) <= {number}, f"{page}: {words}"
            about = re.search(r"\btools\b", words) and re.search(r"\btokens\b", words)
            tokens = re.findall(r"\b\d[\d,]*\d{3}\b", words) if about else []
            assert set(tokens) <= totals, f"{page}: {words}"
            compared += len(counts) + len(tokens)
    assert compared


def test_the_costs_of_tools_are_those_that_are_measured() -> None:
    *_, each = measured()
    shown = next(one for one in fences(ROOT / "docs/mcp.md", "console") if "--describe" in one)
    rows = [line.split() for line in shown.splitlines()[1:] if line != "…"]
    assert len(rows) > 1
    for name, *_, model, listed in rows:
        assert each[name] == (model, listed), name


def test_the_saving_of_three_layers_is_the_measured_one() -> None:
    table = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    row = r"^{}, 5 rows +[\d.]+ +([\d,]+)$"
    whole, layers = (
        int("".join(re.findall(row.format(way), table, re.MULTILINE)).replace(",", ""))
        for way in ("hits whole", "three layers")
    )
    description = Toolbox().tools["__IMPORTANT"].listed.description or ""
    assert re.findall(r"([\d.]+)x", description) == [f"{whole / layers:.1f}"]
