import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_bank.base import setting_sections, settings
from memory_bank.base.errors import BadSetting
from memory_bank.base.settings import Settings, load, make_template


@pytest.fixture
def user(private_folders: Path) -> Path:
    """Return the path of the user's own settings."""
    file = private_folders / "config" / "memory-bank" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def project(folder: Path) -> Path:
    """Return the path of a project's settings."""
    return folder / "config.toml"


@pytest.mark.usefixtures("default_embedder")
def test_without_any_file_the_defaults_hold(folder: Path) -> None:
    settings = load(folder)
    assert settings == Settings()
    assert settings.memory.recency_boost_days == 7
    assert settings.memory.recency_boost_factor == 1.2
    assert settings.memory.storage_strategy == "project"
    assert settings.origins == {}


def test_the_nearer_wins(
    user: Path, project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limit(**flags: object) -> tuple[int, str]:
        settings = load(folder, flags=flags)
        return settings.search.limit, settings.origins.get("search.limit", "default")

    assert limit() == (10, "default")
    user.write_text("[search]\nlimit = 20\n")
    assert limit() == (20, f"{user}:2")
    project.write_text("\n[memory]\n[search]\n# limit = 1\nlimit = 15\n")
    assert limit() == (15, f"{project}:5")
    monkeypatch.setenv("MEMORY_BANK_SEARCH_LIMIT", "40")
    assert limit() == (40, "MEMORY_BANK_SEARCH_LIMIT")
    assert limit(**{"search.limit": 50}) == (50, "flag")
    assert settings.load(None).search.limit == 40


@pytest.mark.usefixtures("default_embedder")
def test_one_file_leaves_the_keys_of_another(user: Path, project: Path, folder: Path) -> None:
    user.write_text('[memory]\nembedder = "none"\n')
    project.write_text("[memory]\nrecency_boost_days = 3\n")
    memory = settings.load(folder).memory
    assert (memory.embedder, memory.recency_boost_days) == ("none", 3.0)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[memory]\nembeder = 'x'\n", 2, "unknown setting 'memory.embeder'"),
        ("\n\n[serch]\nlimit = 1\n", 3, "unknown setting 'serch'"),
        ("limit = 3\n", 1, "unknown setting 'limit'"),
        ("[search]\nfusion = 'rrf'\nlimit = '3'\n", 3, "whole number"),
        ("[search]\nlimit = 0\n", 2, "search.limit = 0 is out of range: it must be 1 to 100"),
        ("[search]\nlimit = true\n", 2, "whole number"),
        ("[search]\nfusion = 'magic'\n", 2, "search.fusion = 'magic'"),
        ("[memory]\nenabled = 1\n", 2, "true or false"),
        (
            "[memory]\nrecency_boost_days = nan\n",
            2,
            "= nan is out of range: it must be 0 to 36,500",
        ),
        ("[memory]\nrecency_boost_factor = 0.5\n", 2, "= 0.5 is out of range: it must be 1 to 100"),
        ("[memory.deep]\nx = 1\n", 1, "unknown setting 'memory.deep'"),
        ("# c\nsearch.limit = 0\n", 2, "must be 1 to 100"),
        ("# c\n\nsearch = {limit = 0}\n", 3, "must be 1 to 100"),
        ('["search"]\n"limit" = 0\n', 2, "must be 1 to 100"),
        ("# limit = 0\n[memory]\n\n[search]\nlimit = 0\n", 5, "must be 1 to 100"),
    ],
)
def test_a_bad_value_is_named_with_file_and_line(
    project: Path, folder: Path, text: str, line: int, words: str
) -> None:
    project.write_text(text)
    with pytest.raises(BadSetting) as caught:
        settings.load(folder)
    assert f"{project}:{line}: " in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"[memory\n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_named(project: Path, folder: Path, data: bytes) -> None:
    project.write_bytes(data)
    with pytest.raises(BadSetting, match=r"config\.toml"):
        settings.load(folder)


def test_a_byte_order_mark_is_no_error(project: Path, folder: Path) -> None:
    project.write_bytes(b"\xef\xbb\xbf[search]\r\nlimit = 3\r\n")
    assert settings.load(folder).search.limit == 3


PRIVATE = [(s, k) for s, k, _, meta in settings.describe() if meta.private]


@pytest.mark.parametrize(("section", "key"), PRIVATE)
def test_a_project_names_no_host_no_key_and_no_path(
    user: Path, project: Path, folder: Path, section: str, key: str
) -> None:
    default = getattr(Settings().section(section), key)
    value = repr(list(default) if default == () else default).replace("'", '"')
    project.write_text(f"[{section}]\n{key} = {value}\n[sessions]\nprompt_tokens = 70\n")
    settings = load(folder)
    (problem,) = settings.problems
    assert (problem.line, problem.ignored) == (2, True)
    assert f"{section}.{key} may not be set by a project" in problem.message
    assert "your own settings" in problem.hint
    assert f"{section}.{key}" not in settings.origins
    project.unlink()
    user.write_text(f"[{section}]\n{key} = {value}\n")
    load(folder)


def test_what_a_project_may_not_set_is_ignored_whatever_its_value(
    user: Path, project: Path, folder: Path
) -> None:
    user.write_text('[compression]\ncommand = "mine"\n')
    project.write_text(
        '[search]\nlimit = 3\n[compression]\ncommand = ["rm", 7]\nmodel = 3\n'
        '[http]\nurl = "http://evil.example"\ntimeout = 1e9\n'
    )
    settings = load(folder)
    assert (settings.search.limit, settings.compression.command) == (3, "mine")
    assert settings.embedders == ()
    assert [one.line for one in settings.problems] == [4, 5, 7, 8]
    assert "evil" not in repr(settings)


def test_all_that_is_wrong_in_a_file_is_listed_within_bounds(project: Path, folder: Path) -> None:
    project.write_text(
        '[search]\nlimit = "x"\nmodes = 3\n[compression]\ncommand = "x"\n[nothing]\na = 1\n'
        "[schema.plan]\nrequired = 3\n[sessions]\nprompt_tokens = 70\n"
    )
    found = settings.list_problems(folder)
    assert [(one.line, one.ignored) for one in found] == [
        (2, False), (3, False), (5, True), (6, False), (9, False)
    ]  # fmt: skip
    project.write_text("[search]\nlimit = \n")
    assert [one.line for one in settings.list_problems(folder)] == [2]
    project.write_text("".join(f"[a{number}{'x' * 900}]\n" for number in range(900)))
    started = time.process_time()
    found = settings.list_problems(folder)
    assert 0 < len(found) < 100
    assert max(len(one.message) for one in found) < 1000
    assert time.process_time() - started < 2
    project.unlink()
    assert settings.list_problems(folder) == ()


def test_what_names_hosts_keys_and_paths_is_private() -> None:
    assert {"http.url", "http.key", "http.model", "onnx.path"} <= {f"{s}.{k}" for s, k in PRIVATE}


def test_a_secret_is_in_no_message(user: Path, folder: Path) -> None:
    user.write_text("[http]\nkey = 12345678\n")
    with pytest.raises(BadSetting) as caught:
        settings.load(folder)
    assert "12345678" not in caught.value.message


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("MEMORY_BANK_ENABLED", "no", "memory.enabled", False),
        ("MEMORY_BANK_ENABLED", "TRUE", "memory.enabled", True),
        ("MEMORY_BANK_EMBEDDER", "static", "memory.embedder", "static"),
        ("MEMORY_BANK_RECENCY_BOOST_DAYS", "3", "memory.recency_boost_days", 3.0),
        ("MEMORY_BANK_HTTP_KEY", "12", "http.key", "12"),
    ],
)
def test_the_environment_is_read_as_the_default_is_typed(
    variable: str, text: str, name: str, value: object
) -> None:
    settings = load(None, environ={variable: text})
    section, _, key = name.partition(".")
    assert getattr(settings.section(section), key) == value
    assert settings.origins == {name: variable}


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("MEMORY_BANK_ENABLED", "maybe"),
        ("MEMORY_BANK_SEARCH_LIMIT", "1.5"),
        ("MEMORY_BANK_SEARCH_LIMIT", ""),
        ("MEMORY_BANK_SEARCH_FUSION", "magic"),
    ],
)
def test_a_bad_variable_is_named(variable: str, text: str) -> None:
    with pytest.raises(BadSetting, match=variable):
        settings.load(None, environ={variable: text})


@pytest.mark.parametrize(
    "flags", [{"search.limit": "3"}, {"search.nothing": 1}, {"nothing": 1}, {"a.b.c": 1}]
)
def test_a_bad_flag_is_named(flags: dict[str, object]) -> None:
    with pytest.raises(BadSetting, match="flag"):
        settings.load(None, flags=flags)


NUMBERS = [
    (f"{section}.{key}", meta)
    for section, key, default, meta in settings.describe()
    if isinstance(default, int | float) and not isinstance(default, bool)
]


@pytest.mark.parametrize(("name", "meta"), NUMBERS)
def test_every_number_has_a_finite_range(name: str, meta: setting_sections.Key) -> None:
    assert meta.low < meta.high < math.inf
    for value in (meta.low, meta.high):
        settings.load(None, flags={name: value})


@pytest.mark.parametrize(("name", "meta"), NUMBERS)
@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e999", "-1e300", "1" * 5000, "1e18"])
def test_no_number_outside_its_range_is_taken_from_anywhere(
    user: Path, name: str, meta: setting_sections.Key, value: str
) -> None:
    section, _, key = name.partition(".")
    variable = f"MEMORY_BANK_{section if section != 'memory' else ''}_{key}".upper()
    variable = variable.replace("__", "_")
    number = float(value)
    with pytest.raises(BadSetting, match=rf"flag: {name}"):
        settings.load(None, flags={name: number})
    with pytest.raises(BadSetting, match=rf"{variable}: {name}"):
        settings.load(None, environ={variable: value})
    user.write_text(f"[{section}]\n{key} = {value}\n")
    with pytest.raises(BadSetting, match=str(user)) as caught:
        settings.load(None)
    assert len(caught.value.message) < 500


def test_hostile_settings_are_refused_at_once(project: Path, folder: Path) -> None:
    began = time.process_time()
    for text in (f"{'a.' * 30_000}a = 1\n", f"a = {'[' * 50_000}\n", "# x\n" * 300_000):
        project.write_text(text)
        with pytest.raises(BadSetting, match=r"config\.toml"):
            settings.load(folder)
    assert time.process_time() - began < 2


@pytest.mark.usefixtures("default_embedder")
def test_the_template_sets_nothing_and_its_examples_are_right(project: Path, folder: Path) -> None:
    text = make_template()
    assert len(text.splitlines()) <= 10
    project.write_text(text)
    assert load(folder) == Settings()
    first, *lines = text.splitlines()
    project.write_text("\n".join([first, *(line.removeprefix("# ") for line in lines)]))
    found = load(folder)
    assert found.memory.include == ("docs/adr",)
    assert found.code.exclude == ("vendor/",)
    assert not found.sessions.capture


def test_every_setting_says_what_it_is() -> None:
    for section, key, default, meta in settings.describe():
        assert meta.help, f"{section}.{key}"
        assert not meta.choices or default in meta.choices


@pytest.mark.skipif(os.name == "nt", reason="needs a folder in a file's place")
def test_settings_that_can_not_be_read_are_named(project: Path, folder: Path) -> None:
    project.mkdir()
    with pytest.raises(BadSetting, match="can't be read"):
        settings.load(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
@pytest.mark.parametrize("linked", [False, True])
def test_settings_that_are_a_pipe_are_refused_at_once(tmp_path: Path, linked: bool) -> None:
    """A repository can bring a link to one: `/dev/stdin` is where a client's messages come from."""
    file = tmp_path / "config.toml"
    os.mkfifo(tmp_path / "pipe" if linked else file)
    if linked:
        file.symlink_to("pipe")
    asked = (
        "import sys; from pathlib import Path; from memory_bank.base import settings;"
        "settings.load(Path(sys.argv[1]).parent)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked, str(file)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "is no plain file" in done.stderr
