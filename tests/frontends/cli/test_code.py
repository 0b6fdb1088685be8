"""Commands on code, where a table of calls cannot show it."""

import json
import re
from pathlib import Path

import pytest

from tests.git.history_builder import Made, extend, make
from tests.support.files import write_files
from tests.support.shop import FILES

from .conftest import Run

CODE = 'def charge(amount):\n    """Charge a card. Never twice."""\n    return amount\n'


@pytest.fixture
def repository(tmp_path: Path, mb: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = make(tmp_path / "shop", [Made({"shop/pay.py": CODE, "README.md": "# Shop\n"})])
    monkeypatch.chdir(root)
    return root


def test_missing_vectors_are_one_warning_and_sync_counts_those_that_it_computes(
    repository: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.0)
    functions = (f'def charge_{n}():\n    """Charge card {n}."""\n\n\n' for n in range(60))
    (repository / "many.py").write_text("".join(functions))
    mb("init")
    warned = mb("ask", "charge", "a", "card")
    assert warned.err.count("warning: ") == 1
    assert "passages have no vectors yet: a sync computes them (vectors_pending)" in warned.err
    waiting = int(warned.err.partition("warning: ")[2].split()[0])
    synced = mb("sync").out
    assert re.search(
        rf"\bcode: indexed \d+ documents?, embedded {waiting} passages in ", synced, re.MULTILINE
    )
    assert "warning" not in mb("ask", "charge").err
    assert "code" not in mb("sync").out
    assert mb("sync", "--json").json["code"]["embedded"] == 0


def test_notes_are_no_coupled_files(repository: Path, mb: Run) -> None:
    note = {".memories/facts/pay.md": "# Paying\n\nTo charge a card, pay the amount.\n"}
    extend(repository, [Made({**note, "shop/pay.py": f"{CODE}\n# {one}\n"}) for one in "ab"], 1)
    found = json.loads(mb("ask", "charge a card", "--json").out)["results"]
    assert "note" in {one["kind"] for one in found}
    assert not [one for one in found if one["kind"] == "coupled_file" and "pay.md" in one["title"]]


def test_sync_without_a_bank_embeds_the_code(
    repository: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mb("sync").code == 2
    monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.0)
    many = "".join(f"def pay_{one}():\n    return {one}\n\n" for one in range(100))
    (repository / "shop/many.py").write_text(many)
    assert "a sync computes them" in mb("ask", "pay").err
    assert mb("sync").code == 0
    assert "sync" not in mb("ask", "pay").err


@pytest.mark.parametrize("command", ["ask", "recall", "symbols", "tests-for", "blast-radius"])
def test_arguments_that_are_not_utf8_are_understood(
    repository: Path, mb: Run, command: str
) -> None:
    mb("init")
    (repository / "shop/caf\udce9.py").write_text("def latin():\n    pass\n")
    answer = mb(command, "shop/caf\udce9.py")
    assert "unexpected" not in answer.err
    assert "damaged" not in answer.err


@pytest.fixture
def shop(project: Path) -> Path:
    """Add the code of a shop to the project."""
    write_files(project, FILES)
    return project


def test_doctor_tells_what_is_not_indexed_of_the_code(mb: Run, shop: Path) -> None:
    assert "code:" not in mb("doctor").out
    assert mb("doctor", "--json").json.get("code") is None
    for number in range(5):
        (shop / f"min{number}.py").write_text("x=1;" * 5000)
    (shop / "link.py").symlink_to("min0.py")
    mb("symbols")
    shown = mb("doctor").out
    assert "code: 6 files, " in shown
    assert (
        "  generated or minified: its lines are very long (5): min0.py, min1.py, min2.py and 2 more"
        in shown
    )
    assert "  symbolic link: not followed (1): link.py" in shown
    assert "all is well" not in shown
    found = mb("doctor", "--json").json
    assert found["healthy"]
    assert found["code"]["files"] == 6
    assert found["code"]["tests"] == 2
    assert len(found["code"]["unindexed"]) == 6
