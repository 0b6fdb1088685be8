from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput, FileNotFound
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.symbols import coupling
from tests.git.history_builder import Made, make, run

ENGINE = (
    "from shop.gateway import Gateway\n\n\ndef charge(amount):\n    return Gateway().send(amount)\n"
)
GATEWAY = "class Gateway:\n    def send(self, amount):\n        return amount\n"
ORDERS = "def place(order):\n    return sorted(order)\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository where engine.py changed with gateway.py five times of six."""
    both = [
        Made({"shop/engine.py": f"{ENGINE}# {day}\n", "shop/gateway.py": f"{GATEWAY}# {day}\n"})
        for day in range(5)
    ]
    made = [
        Made({"shop/__init__.py": "", "shop/orders.py": ORDERS, "old.txt": "an old list\n" * 9}),
        *both,
        Made({"shop/engine.py": ENGINE}),
        Made(renames=[("old.txt", "list.txt")]),
        Made(
            {f"many/{number}.txt": "x" for number in range(60)} | {"shop/engine.py": ENGINE + "#"}
        ),
    ]
    return make(tmp_path_factory.mktemp("repository").resolve() / "shop", made)


@pytest.fixture
def code(shop: Path) -> Iterator[Codebase]:
    with open_codebase(shop) as opened:
        yield opened


def test_the_files_that_change_with_a_file(code: Codebase) -> None:
    found = coupling(code, "shop/engine.py")
    assert (found.schema_version, found.file, found.commits) == ("1.0", "shop/engine.py", 6)
    assert found.result_count == len(found.files)
    first = found.files[0]
    assert (first.file, first.support, first.risk) == ("shop/gateway.py", 5, "Critical")
    assert first.confidence == 0.8333
    assert first.last_changed == "2020-09-19T12:26:40Z"
    assert first.coupling_type == "multi"
    assert (
        first.snippet
        == "Co-changes with gateway.py in 83% of commits (Critical coupling, type: multi)"
    )
    assert 0 < first.fused_score < 1
    assert not any(one.file.startswith("many/") and one.support for one in found.files)
    assert found.notices == ()


def test_the_limit_is_kept(code: Codebase) -> None:
    assert len(coupling(code, "shop/engine.py", 1).files) == 1
    assert len(coupling(code, "shop/engine.py", -5).files) == 1


@pytest.mark.parametrize(
    "form", ["./shop/engine.py", "shop//engine.py", "shop\\engine.py", ".\\shop\\engine.py", "shop/../shop/engine.py", "{root}/shop/engine.py"],
)  # fmt: skip
def test_all_forms_of_a_path_are_the_same_file(code: Codebase, form: str) -> None:
    assert coupling(code, form.format(root=code.root)).file == "shop/engine.py"


def test_a_path_through_a_link_to_the_repository_is_the_same_file(
    code: Codebase, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(code.root)
    with open_codebase(tmp_path / "link") as linked:
        assert coupling(linked, str(tmp_path / "link/shop/engine.py")).file == "shop/engine.py"


@pytest.mark.parametrize("file", ["", ".", "..", "../shop/engine.py", "/etc/passwd", "a\0b"])
def test_a_path_outside_is_an_error(code: Codebase, file: str) -> None:
    with pytest.raises(BadInput, match="is no file below"):
        coupling(code, file)


@pytest.mark.parametrize(
    ("file", "message", "hint"),
    [
        ("engine.py", "did you mean shop/engine.py?", "git tracks"),
        ("shop/engin.py", "did you mean shop/engine.py?", "git tracks"),
        ("old.txt", "there is no file old.txt", "it was renamed to list.txt"),
        ("many", "many is a folder", "one of its files"),
        ("\udcff.py", "there is no file", "git tracks"),
    ],
)
def test_an_unknown_file_is_an_error(code: Codebase, file: str, message: str, hint: str) -> None:
    with pytest.raises(FileNotFound) as raised:
        coupling(code, file)
    assert message in raised.value.message
    assert hint in raised.value.hint


def test_a_new_file_has_its_imports(shop: Path) -> None:
    new = shop / "shop/refund.py"
    new.write_text("from shop.orders import place\n")
    try:
        with open_codebase(shop) as code:
            found = coupling(code, "shop/refund.py")
    finally:
        new.unlink()
    assert found.commits == 0
    (orders,) = [one for one in found.files if one.file == "shop/orders.py"]
    assert (orders.support, orders.last_changed, orders.risk) == (0, "", "Low")
    assert orders.snippet == (
        "Is connected by imports with, and worded like, orders.py (no joint commits, type: multi)"
    )


def test_commits_are_seen_at_once(shop: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", str(shop), "clone")
    clone = tmp_path / "clone"
    with open_codebase(clone) as code:
        before = coupling(code, "shop/orders.py")
        (clone / "shop/orders.py").write_text(ORDERS + "# more\n")
        (clone / "list.txt").write_text("new")
        run(clone, "commit", "-q", "-a", "-m", "Both")
        after = coupling(code, "shop/orders.py")
    assert after.commits == before.commits + 1
    assert {one.file: one.support for one in after.files}["list.txt"] == 2


def test_without_commits_imports_are_left(tmp_path: Path) -> None:
    root = make(tmp_path / "empty", [])
    (root / "a.py").write_text("import b\n")
    (root / "b.py").write_text("X = 1\n")
    with open_codebase(root) as code:
        found = coupling(code, "a.py")
    assert [one.file for one in found.files] == ["b.py"]
    assert found.notices == ("there are no commits yet",)


def test_a_question_leaves_the_work_tree_as_it_is(code: Codebase, shop: Path) -> None:
    coupling(code, "shop/engine.py")
    assert run(shop, "status", "--porcelain", "--ignored") == ""
