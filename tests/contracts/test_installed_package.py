"""Plug-ins of an installed package are found and keep the contracts; those of a repository don't."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memory_bank.base import plugins

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests/sample_plugin"
PROJECT = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]

Python = Callable[..., subprocess.CompletedProcess[str]]


def install(folder: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the metadata of a package as an installer does; no network is needed."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{one} = {value}" for one, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment that has this program and the sample; return its folder of packages."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, symlinks=True)
    made = next(place.rglob("site-packages"))
    here = [one for one in sys.path if one and Path(one) != ROOT]
    (made / "all.pth").write_text("\n".join([str(ROOT), *here]) + "\n")
    shutil.copytree(SAMPLE / "sample_plugin", made / "sample_plugin")
    install(made, PROJECT["name"], PROJECT["entry-points"])
    return made


@pytest.fixture
def python(packages: Path, project: Path) -> Python:
    """Run Python of the environment, in a project."""
    (program,) = packages.parents[2].glob("[bS]*/python" + ".exe" * (os.name == "nt"))

    def run(*words: object, cwd: Path = project) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        every = [str(program), *map(str, words)]
        return subprocess.run(
            every, cwd=cwd, env=environ, capture_output=True, text=True, check=False
        )

    return run


def test_the_sample_has_a_plug_in_of_each_kind() -> None:
    assert set(PROJECT["entry-points"]) == set(plugins.GROUPS.values())


def test_each_of_its_plug_ins_keeps_the_contract(python: Python) -> None:
    names = {name for group in PROJECT["entry-points"].values() for name in group}
    answer = python(
        *("-m", "pytest", "-v", "-n", 0, "-p", "no:cacheprovider", "-rs", "tests/contracts"),
        "tests/frontends/cli/test_help.py",
        *("-k", " or ".join(f"[{name}" for name in names) + " or each_finds_something"),
        cwd=ROOT,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "skipped" not in answer.stdout
    assert {name for name in names if f"[{name}" in answer.stdout} == names


def test_its_plug_ins_answer_in_the_program(python: Python, project: Path) -> None:
    (project / "birds.csv").write_text("osprey,dives for fish\nowl,hunts voles at dusk\n")
    (project / "greet.zsh").write_text("welcome_visitors() {\n  print hello\n}\n")
    assert "birds.csv:2" in python("-m", "memory_bank", "ask", "what hunts voles at dusk?").stdout
    assert "greet.zsh:1" in python("-m", "memory_bank", "symbols", "welcome_visitors").stdout
    assert "feathers" in python("-m", "memory_bank", "-h").stdout
    assert '"word": "whoosh"' in python("-m", "memory_bank", "feathers", "whoosh").stdout
    assert "feathers" in python("-m", "memory_bank", "serve", "mcp", "--describe").stdout
    (project / ".memories/plan.md").write_text("TODO: feed the owl\n")
    assert "plan.md  asks for work" in python("-m", "memory_bank", "doctor").stdout
    assert "owl" in python("-m", "memory_bank", "agents", "install", "nobody").stderr
    done = python("-m", "memory_bank", "agents", "install", "owl", "--scope", "project", "--yes")
    assert (project / ".owl/mcp.json").exists(), done.stderr


NAMING = "from memory_bank.base import plugins; print(*plugins.list_plugins('search.embedders'))"


def test_a_package_in_a_repository_is_not_installed(
    python: Python, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_BANK_EMBEDDER", raising=False)
    install(project, "evil", {"memory_bank.embedders": {"evil": "evil"}})
    (project / "evil.py").write_text("open('ran', 'w')\n")
    (project / ".memories/config.toml").write_text('[memory]\nembedder = "evil"\n')
    assert python("-c", f"import sys; sys.path.insert(0, '.'); {NAMING}").stdout.split() == [
        *plugins.list_plugins("search.embedders"),
        "vowels",
    ]
    found = python("-m", "memory_bank", "recall", "tantivy")
    assert "there is no embedder called 'evil'" in found.stderr
    assert not (project / "ran").exists()


def test_a_repository_does_not_take_the_place_of_an_installed_package(
    python: Python, project: Path
) -> None:
    (project / "sample_plugin").mkdir()
    (project / "sample_plugin/__init__.py").write_text("open('ran', 'w')\n")
    (project / "click.py").write_text("open('ran', 'w')\n")
    (project / ".memories/config.toml").write_text('[memory]\nembedder = "vowels"\n')
    found = python("-m", "memory_bank", "recall", "tantivy")
    assert "decisions/tantivy.md" in found.stdout
    assert not (project / "ran").exists()


def test_a_plug_in_that_cannot_be_imported_names_its_package_and_what_to_do(
    python: Python, packages: Path
) -> None:
    install(packages, "gone-parts", {"memory_bank.importers": {"gone": "no.such.module"}})
    found = python("-m", "memory_bank", "import", "gone", ".")
    assert found.stderr == (
        "error: the importer 'gone' of the package gone-parts can't be loaded:"
        " ModuleNotFoundError: No module named 'no'\n"
        "hint: update that package, or uninstall it: pip uninstall gone-parts\n"
    )
    shutil.rmtree(packages / "gone_parts-1.0.dist-info")


def test_ours_come_before_installed_ones_and_two_of_one_name_are_refused(
    python: Python, packages: Path
) -> None:
    groups = {"memory_bank.embedders": {"static": "sample_plugin.vowels"}}
    install(packages, "other-static", groups)
    groups = {"memory_bank.embedders": {"vowels": "sample_plugin.vowels"}}
    install(packages, "other-vowels", groups)
    loading = "from memory_bank.base import plugins; print(plugins.load('search.embedders', {!r}))"
    assert "memory_bank.search.embedders.static" in python("-c", loading.format("static")).stdout
    said = python("-c", loading.format("vowels")).stderr
    assert "memory-bank-sample, other-vowels" in said
    for name in ("static", "vowels"):
        shutil.rmtree(packages / f"other_{name}-1.0.dist-info")


METADATA = """
import sys
from memory_bank.base import plugins
plugins.load("search.embedders", "static")
plugins.list_plugins("search.embedders")
print("importlib.metadata" in sys.modules)
"""


def test_metadata_are_not_loaded_where_no_package_has_a_plug_in(
    run_python: Python, python: Python
) -> None:
    assert run_python(METADATA).stdout == "False\n"
    assert python("-c", METADATA).stdout == "True\n"
