"""The code of a work tree is found by name, words and meaning."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput, NoRepository
from memory_bank.base.locks import hold_lock
from memory_bank.base.paths import private_folder
from memory_bank.code.index import codebase
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.index.work_tree import TreeScan, WorkTree
from memory_bank.code.lookup import find_symbol
from memory_bank.search.embedders import static
from tests.git.history_builder import commit_all
from tests.support.files import write_files
from tests.support.shop import FILES

Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository of a shop's code with documents and a bank."""
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "static")
    root = tmp_path.resolve() / "shop"
    write_files(root, FILES)
    write_files(
        root,
        {
            "README.md": "# Shop\n\nThe shop charges customers through a gateway.\n",
            "docs/setup.md": "# Setup\n\n## Database\n\nCreate a database called shop.\n",
            ".memories/.gitignore": ".index/\n",
            ".memories/note.md": "# A decision on databases\n\nWe use one database for customers.\n",
        },
    )
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    commit_all(root, "Start")
    return root


@pytest.fixture
def code(shop: Path) -> Iterator[Codebase]:
    with open_codebase(shop) as opened:
        assert not opened.catch_up().problem
        yield opened


def found(code: Codebase, kind: str, text: str, **wanted: object) -> list[str]:
    hits = code.search("files", text, 5, kinds=[kind], parts=True, **wanted).hits  # type: ignore[arg-type]
    return [
        one.symbol.symbol.qualified
        if one.symbol
        else one.test.intent.symbol
        if one.test
        else f"{one.path}#{'>'.join(one.headings)}"
        for one in hits
    ]


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_symbols_tests_and_documents_are_found(code: Codebase, mode: str) -> None:
    assert found(code, "symbols", "retry on a timeout", mode=mode)[0] == "Order.place"
    assert found(code, "tests", "an empty order is refused", mode=mode)[0] == (
        "test_an_empty_order_is_refused"
    )
    assert found(code, "docs", "create a database", mode=mode)[0] == "docs/setup.md#Setup>Database"


def test_commits_have_no_index_of_whole_messages(shop: Path, git: Git) -> None:
    message = (
        "Refuse an empty order\n\nThe gateway charges a fee for each of them, so we lost money."
    )
    git(shop, "commit", "-q", "--allow-empty", "-m", message)
    with open_codebase(shop) as code:
        old = code.folder / "commits" / "notes"  # an earlier version made one
        old.mkdir(parents=True)
        assert not code.catch_up().problem
        (hit,) = code.search("commits", "a fee of the gateway", 5).hits
        assert {one.source for one in hit.hit.reasons} >= {"keyword", "notes", "vectors"}
        assert not old.exists()


def test_what_a_project_has_nothing_of_gets_no_index(tmp_path: Path, git: Git) -> None:
    (tmp_path / "a.py").write_text("def place_order() -> None:\n    pass\n", encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path, "Start")
    with open_codebase(tmp_path) as code:
        code.catch_up()
        assert found(code, "symbols", "place an order")[0] == "place_order"
        assert found(code, "tests", "place an order") == []
        code.embed(1)
        assert [one.parent.name for one in code.folder.glob("*/manifest.db")] == ["files"]
        (tmp_path / "README.md").write_text("# Shop\n\nHow to place an order.\n", encoding="utf-8")
        code.catch_up()
        assert found(code, "docs", "place an order") == ["README.md#Shop"]


def test_a_hit_says_where_it_is_and_why(code: Codebase) -> None:
    (hit, *_) = code.search("files", "send an amount over the wire", 5, parts=True).hits
    assert (hit.path, hit.headings, hit.lane) == (
        "shop/payments.py", ("Gateway", "send"), "files",
    )  # fmt: skip
    assert hit.symbol == find_symbol(code.table, "Gateway.send")
    assert hit.span == (hit.symbol.symbol.line, hit.symbol.symbol.end_line)
    assert 0 < hit.score <= 1
    assert hit.hit.reasons
    assert code.text(hit).strip().startswith("def send")


def test_notes_are_no_documents_of_the_code(shop: Path, code: Codebase) -> None:
    assert all("note.md" not in one for one in found(code, "docs", "database for customers"))
    code.close()
    (shop / ".memories/config.toml").write_text('[memory]\ninclude = ["docs"]\n')
    with open_codebase(shop) as again:
        again.catch_up()
        assert all("docs/" not in one for one in found(again, "docs", "create a database"))


def test_uncommitted_changes_are_found_at_once_and_ignored_files_are_not(
    shop: Path, code: Codebase
) -> None:
    (shop / ".gitignore").write_text("ignored.py\n")
    write_files(
        shop,
        {
            "ignored.py": "def walrus():\n    pass\n",
            "fresh.py": "def narwhal():\n    pass\n",
            "docs/whales.md": "# Whales\n\nThe narwhal has a tusk.\n",
        },
    )
    (shop / "shop/payments.py").unlink()
    assert not code.catch_up().problem
    assert found(code, "symbols", "narwhal", mode="lexical") == ["narwhal"]
    assert found(code, "docs", "narwhal", mode="lexical") == ["docs/whales.md#Whales"]
    assert found(code, "symbols", "walrus", mode="lexical") == []
    assert found(code, "symbols", "wire", mode="lexical") == []


def test_conditions_restrict_by_folder_kind_and_language(code: Codebase) -> None:
    assert found(code, "symbols", "order kind:class") == ["Order"]
    everywhere = code.search("files", "amount", 20).hits
    inside = code.search("files", "amount in:shop", 20).hits
    assert {one.path.partition("/")[0] for one in inside} == {"shop"}
    assert len(inside) <= len(everywhere)
    assert found(code, "symbols", "order language:ruby") == []
    assert found(code, "symbols", "order language:python", under="shop")


def test_a_moved_symbol_is_found_at_its_new_place(shop: Path, code: Codebase) -> None:
    before = find_symbol(code.table, "Gateway.send").id
    (shop / "shop/payments.py").rename(shop / "door.py")
    code.catch_up()
    (hit, *_) = code.search("files", "send an amount over the wire", 5, parts=True).hits
    assert (hit.path, hit.symbol and hit.symbol.id) == ("door.py", before)


def test_accesses_raise_a_symbol(shop: Path, code: Codebase) -> None:
    write_files(
        shop, {"twins.py": "".join(f"def zebra_{one}():\n    '''A zebra.'''\n" for one in "abc")}
    )
    code.catch_up()
    first = found(code, "symbols", "zebra", mode="lexical")
    last = find_symbol(code.table, first[-1])
    for _ in range(3):
        assert code.count_access([last.id]) == ""
    assert found(code, "symbols", "zebra", mode="lexical")[0] == last.symbol.qualified
    (hit, *_) = code.search("files", "zebra", 5, mode="lexical", parts=True).hits
    assert hit.hit.access.times == 3
    assert "access" in {one.source for one in hit.hit.reasons}
    assert code.accesses([last.id])[last.id].times == 3


def test_no_bank_is_needed(shop: Path, git: Git) -> None:
    git(shop, "rm", "-q", "-r", "--cached", ".memories")
    for file in (shop / ".memories").iterdir():
        file.unlink()
    (shop / ".memories").rmdir()
    with open_codebase(shop / "docs") as code:
        code.catch_up()
        assert code.layout is None
        assert code.root == shop
        assert found(code, "symbols", "retry on a timeout")[0] == "Order.place"
        assert code.count_access(["sym-1"]) == ""
        assert code.accesses(["sym-1"]) == {}


def test_without_a_repository_notes_work_alone(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    with pytest.raises(NoRepository, match="in no git work tree"):
        open_codebase(folder)
    with open_bank(folder) as bank:
        assert bank.sync().indexed == 0


def test_code_can_be_turned_off(shop: Path) -> None:
    (shop / ".memories/config.toml").write_text("[code]\nenabled = false\n")
    with open_codebase(shop) as code, pytest.raises(BadInput, match="turned off"):
        code.refresh()


def test_excluded_files_are_not_indexed(shop: Path) -> None:
    (shop / ".memories/config.toml").write_text('[code]\nexclude = ["docs/", "reports.py"]\n')
    with open_codebase(shop) as code:
        code.catch_up()
        assert "shop/reports.py" not in code.table.files()
        assert all("docs/" not in one for one in found(code, "docs", "create a database"))


def test_nothing_is_written_in_the_repository(shop: Path, code: Codebase, git: Git) -> None:
    code.search("files", "order", 5)
    code.relations()
    code.close()
    assert git(shop, "status", "--porcelain") == ""
    ignored = git(shop, "status", "--porcelain", "--ignored").split("\n")
    assert set(ignored) <= {"!! .memories/.index/", ""}  # the bank's id is remembered there


def test_damaged_files_are_made_again(shop: Path, code: Codebase) -> None:
    before = found(code, "symbols", "retry on a timeout")
    code.close()
    for file in (code.table.file, code.folder / "files" / "manifest.db"):
        file.write_bytes(b"no database" * 1000)
    for file in (code.folder / "files" / "keyword").iterdir():
        file.write_bytes(b"")
    assert not code.catch_up().problem
    assert found(code, "symbols", "retry on a timeout") == before


def test_a_deleted_cache_is_made_again_while_open(code: Codebase) -> None:
    before = found(code, "symbols", "retry on a timeout")
    shutil.rmtree(code.shared)
    assert not code.catch_up().problem
    assert found(code, "symbols", "retry on a timeout") == before


def test_relations_are_those_of_the_current_state(shop: Path, code: Codebase) -> None:
    first = code.relations()
    assert code.relations() is first
    assert first.guards.of_symbol(find_symbol(code.table, "Order.check"))
    write_files(
        shop, {"a.py": "from shop.orders import charge_with_retry\ncharge_with_retry(1, 2)\n"}
    )
    code.refresh()
    assert "a.py" in code.relations().imports.importers("shop/orders.py")


@pytest.mark.slow
def test_several_processes_may_make_the_index_at_once(shop: Path) -> None:
    for number in range(300):
        (shop / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    program = (
        "from memory_bank.code.index.codebase import open_codebase\n"
        f"with open_codebase({str(shop)!r}) as code:\n"
        "    while code.catch_up().problem:\n"  # on a slow machine another is still at it
        "        pass\n"
        "    hits = code.search('files', 'part77', 5, mode='lexical').hits\n"
        "    print(len(code.table.files()), hits[0].path)\n"
    )
    words = [sys.executable, "-c", program]
    started = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [(*one.communicate(timeout=120), one.returncode) for one in started]
    assert ended == [("305 part77.py\n", "", 0)] * 3


def test_a_first_question_waits_for_the_process_that_reads_the_files(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codebase, "_LOCK_SECONDS", 0.0)
    with open_codebase(shop) as code, ThreadPoolExecutor() as threads:
        private_folder(code.folder)
        assert code.table.files() == {}  # made, and nothing read yet
        with hold_lock(code.folder):
            asked = threads.submit(code.refresh)
            assert not wait([asked], timeout=0.2).done
        assert asked.result() == ""
        assert "shop/orders.py" in code.table.files()
        (shop / "more.py").write_text("def more():\n    pass\n")
        with hold_lock(code.folder):
            assert "the latest changes may be missing" in threads.submit(code.refresh).result()


def test_a_lookup_loads_no_index(shop: Path) -> None:
    program = (
        "import sys\n"
        "from memory_bank.code.index.codebase import open_codebase\n"
        "from memory_bank.code.lookup import find_symbol\n"
        f"with open_codebase({str(shop)!r}) as code:\n"
        "    code.refresh()\n"
        "    print(find_symbol(code.table, 'Order.place').path)\n"
        "print(*sorted(set(sys.modules) & {'numpy', 'tantivy', 'usearch', 'tokenizers'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["shop/orders.py"]


def test_files_are_listed_once_for_symbols_and_coupling(
    code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans: list[object] = []
    real = WorkTree.scan

    def scan(self: WorkTree) -> TreeScan:
        scans.append(self)
        return real(self)

    monkeypatch.setattr(WorkTree, "scan", scan)
    assert "shop/orders.py" in code.coupling()[0].files
    assert len(scans) == 1
    code.catch_up()
    assert code.coupling(refresh=False)[0].files >= {"shop/orders.py", "docs/setup.md"}
    assert len(scans) == 2


def test_the_first_search_of_a_repository_computes_all_vectors(shop: Path) -> None:
    many = {
        f"src/part{number}.py": f"def part{number}():\n    return {number}\n"
        for number in range(60)
    }
    write_files(shop, many)
    told: list[tuple[int, int]] = []
    with open_codebase(shop) as code:
        report = code.catch_up(
            seconds=0.001, progress=lambda _, done, total: told.append((done, total))
        )
    assert (report.waiting, report.problem) == (0, "")
    assert told[-1][0] == told[-1][1]


def test_a_slow_embedder_does_not_keep_a_search_waiting(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {
        f"src/part{number}.py": f"def part{number}():\n    return {number}\n"
        for number in range(900)
    }
    write_files(shop, many)
    embed = static.Static.embed

    def slow(self: static.Static, texts: list[str], kind: str) -> object:
        time.sleep(0.001 * len(texts))
        return embed(self, texts, kind)  # type: ignore[arg-type]

    monkeypatch.setattr(static.Static, "embed", slow)
    monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.001)
    monkeypatch.setattr("memory_bank.code.index.codebase._WHOLE_SECONDS", 0.1)
    with open_codebase(shop) as code:
        report = code.catch_up()
    assert report.waiting > 0
    assert "have no vectors yet" in report.problem
