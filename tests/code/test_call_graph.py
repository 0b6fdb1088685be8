"""Calls lead to symbols, as far as names tell."""

from pathlib import Path

import pytest

from memory_bank.code.call_targets import IMPORTED, INHERITED, SAME_FILE
from memory_bank.code.calls import CallGraph
from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.database import last_part
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.lookup import find_symbol
from tests.support.files import write_files


@pytest.fixture
def graph(table: SymbolTable) -> CallGraph:
    return CallGraph(table, ImportTargets(table))


def callees(table: SymbolTable, name: str) -> dict[str, tuple[str, str] | None]:
    graph = CallGraph(table, ImportTargets(table))
    return {
        one.written: (f"{one.row.path}#{one.row.symbol.qualified}", one.how) if one.row else None
        for one in graph.callees(find_symbol(table, name))
    }


def callers(table: SymbolTable, name: str) -> tuple[list[str], int]:
    calls, unclear = CallGraph(table, ImportTargets(table)).callers(find_symbol(table, name))
    names = [f"{call.row.path}#{call.row.symbol.qualified}" for call in calls]
    return names, len(unclear)


def test_calls_out_lead_to_symbols(table: SymbolTable) -> None:
    found = callees(table, "Order.place")
    assert found["self.check"] == ("shop/orders.py#Order.check", SAME_FILE)
    assert found["charge_with_retry"] == ("shop/orders.py#charge_with_retry", SAME_FILE)
    assert found["Gateway"] == ("shop/payments.py#Gateway", IMPORTED)
    assert "ValueError" not in callees(table, "Order.check")  # it is not of this code


def test_callers_come_with_how_they_are_known(table: SymbolTable, graph: CallGraph) -> None:
    found = graph.callers(find_symbol(table, "Order.check"))[0]
    assert [(one.row.path, one.how) for one in found] == [
        ("shop/orders.py", SAME_FILE),
        ("tests/test_orders.py", IMPORTED),
    ]
    assert found[0].written == "self.check"
    assert graph.callers(find_symbol(table, "payments.describe"))[0] == []


def test_a_call_on_a_value_means_no_symbol_but_is_counted(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "paths.py": "def join(a, b):\n    return a\n",
            "use.py": (
                "from paths import join\n\n\ndef known():\n    return join(1, 2)\n\n\n"
                "def text(parts):\n    return ', '.join(parts) + parts.join(1) + make()[0].join()\n"
            ),
            "other.py": "def join_all(rows):\n    return [row.join(rows) for row in rows]\n",
        },
    )
    table.refresh()
    assert callers(table, "paths.join") == (["use.py#known"], 2)
    assert callees(table, "text") == {".join": None, "parts.join": None}


def test_names_of_the_language_and_of_parameters_mean_no_symbol(
    shop: Path, table: SymbolTable
) -> None:
    write_files(
        shop,
        {
            "a.py": "def print(text):\n    pass\n\n\ndef run(job):\n    pass\n",
            "b.py": "def main(run):\n    print(1)\n    run()\n",
            "c.py": "from a import run\n\n\ndef start(run):\n    run()\n",
        },
    )
    table.refresh()
    assert callees(table, "b.py#main") == {"print": None, "run": None}
    assert callees(table, "c.py#start") == {"run": None}


def test_no_call_leads_to_another_language(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "socket.rs": "pub struct WebSocket;\n",
            "page.js": "const socket = () => new WebSocket('/');\n",
        },
    )
    table.refresh()
    assert callees(table, "page.js#socket") == {}
    assert callers(table, "WebSocket") == ([], 0)


def test_names_are_followed_through_other_names_and_files(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "kit/__init__.py": "from .tools import cut as snip\nfrom .saws import *\n",
            "kit/tools.py": "def cut():\n    pass\n",
            "kit/saws.py": "def saw():\n    pass\n",
            "a.py": (
                "import kit.tools as t\nimport kit\nfrom kit import snip as s, saw\nimport kit.saws\n"
                "\n\ndef go():\n    t.cut()\n    s()\n    saw()\n    kit.snip()\n    kit.saws.saw()\n"
            ),
            "web/math.ts": "export function add() {}\n",
            "web/index.ts": 'export { add as plus } from "./math.js";\nexport * as m from "./math";\n',
            "web/use.ts": (
                'import * as all from "./index";\nimport { plus as p } from "./index";\n'
                "export function run() { all.plus(); p(); all.m.add(); }\n"
            ),
        },
    )
    table.refresh()
    cut, saw = ("kit/tools.py#cut", IMPORTED), ("kit/saws.py#saw", IMPORTED)
    assert callees(table, "a.py#go") == {
        "t.cut": cut, "s": cut, "saw": saw, "kit.snip": cut, "kit.saws.saw": saw,
    }  # fmt: skip
    add = ("web/math.ts#add", IMPORTED)
    assert callees(table, "use.ts#run") == {"all.plus": add, "p": add, "all.m.add": add}


def test_names_of_rust_are_followed_through_modules(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "net/Cargo.toml": '[package]\nname = "net-kit"\n',
            "net/src/lib.rs": "mod routing;\npub use self::routing::{Router as Roads, on};\n",
            "net/src/routing.rs": (
                "pub struct Router;\nimpl Router {\n  pub fn new() -> Self { Router }\n"
                "  pub fn route(self) -> Self { self.check(); self }\n  fn check(&self) {}\n}\n"
                "pub fn on() {}\nmacro_rules! on { () => {} }\n"
                "#[cfg(test)]\nmod tests {\n  use super::*;\n  fn helper() { super::on(); }\n}\n"
            ),
            "app/src/main.rs": (
                "use net_kit::{Roads, on};\n"
                "fn main() { Roads::new().route(); on(); HashMap::new(); crate::part(); }\n"
                "fn part() {}\n"
            ),
        },
    )
    table.refresh()
    file = "net/src/routing.rs"
    assert callees(table, "main.rs#main") == {
        "Roads::new": (f"{file}#Router.new", IMPORTED),
        "Roads::new().route": (f"{file}#Router.route", IMPORTED),
        "on": (f"{file}#on", IMPORTED),
        "HashMap::new": None,
        "crate::part": ("app/src/main.rs#part", SAME_FILE),
    }
    assert callees(table, "Router.route") == {"self.check": (f"{file}#Router.check", SAME_FILE)}
    assert callees(table, "tests.helper") == {"super::on": (f"{file}#on", SAME_FILE)}


def test_a_trait_and_what_implements_it_are_one_for_callers(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "kit.rs": (
                "pub trait Handler {\n  fn call(&self);\n  fn twice(&self) { self.call(); }\n}\n"
                "pub struct Plain;\nimpl Handler for Plain {\n  fn call(&self) {}\n}\n"
                "pub struct Other;\nimpl Other {\n  fn call(&self) {}\n}\n"
                "fn direct(one: Plain) { Plain::call(&one); }\n"
                "fn by_trait(one: Plain) { Handler::call(&one); one.call(); }\n"
            ),
            "shapes.py": (
                "class Shape:\n    def area(self):\n        return 0\n\n"
                "    def show(self):\n        return self.area()\n\n\n"
                "class Square(Shape):\n    def area(self):\n        return super().area()\n\n"
                "    def half(self):\n        return self.show()\n"
            ),
        },
    )
    table.refresh()
    both = ["kit.rs#Handler.twice", "kit.rs#direct", "kit.rs#by_trait"]
    assert callers(table, "Handler.call") == (both, 0)
    assert callers(table, "Plain.call") == (both, 0)
    assert callers(table, "Other.call") == ([], 1)
    assert "shapes.py#Shape.show" in callers(table, "Square.area")[0]
    assert callees(table, "Square.area") == {
        "super().area": ("shapes.py#Shape.area", INHERITED),
    }  # fmt: skip
    assert callees(table, "Square.half") == {"self.show": ("shapes.py#Shape.show", INHERITED)}


def test_what_cannot_be_told_is_counted(shop: Path, table: SymbolTable, graph: CallGraph) -> None:
    write_files(
        shop,
        {
            "two.py": (
                "class A:\n    def send(self): pass\n\n\nclass B:\n    def send(self): pass\n\n\n"
                "class C(B):\n    def send(self): pass\n\n\ndef post(it):\n    it.send()\n    it.go()\n"
            )
        },
    )
    table.refresh()
    found = {one.written: (one.row, one.alike) for one in graph.callees(find_symbol(table, "post"))}
    assert found == {"it.send": (None, 3)}  # Gateway's too; C.send is B's


def test_a_call_of_what_is_imported_from_elsewhere_is_neither_listed_nor_counted(
    shop: Path, table: SymbolTable
) -> None:
    write_files(
        shop,
        {
            "text.py": "def loads(text):\n    return text\n",
            "use.py": "import json\n\n\ndef read(text):\n    return json.loads(text)\n\n\n"
            "def given(json, text):\n    return json.loads(text)\n",
        },
    )
    table.refresh()
    assert callees(table, "read") == {}
    assert callees(table, "given") == {"json.loads": None}
    assert callers(table, "text.loads") == ([], 1)


def test_guesses_lead_nowhere(shop: Path, table: SymbolTable, graph: CallGraph) -> None:
    write_files(shop, {"a.c": "void total(void) { add_up(); }\n", "b.c": "void add_up(void) {}\n"})
    table.refresh()
    assert callees(table, "total") == {"add_up": None}
    shown = graph.callees(find_symbol(table, "charge_with_retry"))
    assert {one.written: (one.row, one.alike) for one in shown}["gateway.charge"] == (None, 1)


def test_what_a_call_is_made_on_decides(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "door.py": "class Front:\n    def open(self):\n        pass\n\n\nclass Back:\n    def open(self):\n        pass\n",
            "house.py": (
                "import door\n\n\nclass House:\n    def open(self, front, back, other):\n"
                "        front.open()\n        back.open()\n        other.open()\n"
                "        self.open()\n        open()\n        door.Back.open(1)\n"
            ),
        },
    )
    table.refresh()
    assert callees(table, "House.open") == {
        "front.open": None,
        "back.open": None,
        "other.open": None,
        "self.open": ("house.py#House.open", SAME_FILE),
        "open": None,
        "door.Back.open": ("door.py#Back.open", IMPORTED),
    }


def test_files_of_a_package_need_no_import(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "go/store/disk.go": (
                "package store\n\ntype Disk struct{}\n\n"
                "func (d *Disk) Open(other Disk) {\n\treset()\n\td.flush()\n\tother.flush()\n}\n"
            ),
            "go/store/memory.go": "package store\n\nfunc reset() {}\n\nfunc (d *Disk) flush() {}\n",
            "go/other/memory.go": "package other\n\nfunc reset() {}\n\nfunc (d *Disk) flush() {}\n",
        },
    )
    table.refresh()
    assert callees(table, "Disk.Open") == {
        "reset": ("go/store/memory.go#reset", IMPORTED),
        "d.flush": ("go/store/memory.go#Disk.flush", IMPORTED),
        "other.flush": None,
    }


def test_what_calls_into_a_package_of_many_files_is_found(shop: Path, table: SymbolTable) -> None:
    many = {f"go/big/f{number}.go": "package big\n" for number in range(30)}
    write_files(
        shop,
        {
            "go/go.mod": "module example.org/m\n",
            **many,
            "go/big/open.go": "package big\n\nfunc Open() {}\n",
            "go/main.go": (
                'package main\n\nimport "example.org/m/big"\n\nfunc start() { big.Open() }\n'
            ),
        },
    )
    table.refresh()
    assert callers(table, "Open") == (["go/main.go#start"], 0)
    assert ImportTargets(table).imported("go/main.go") == {}  # it is no neighbour of all of them


def test_overloaded_methods_count_as_one(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "Json.java": (
                "class Json {\n  int read(String a) { return read(a, 1); }\n"
                "  int read(String a, int b) { return check(b); }\n"
                "  static int check(int b) { return b; }\n}\n"
            ),
            "Main.java": "class Main {\n  int go(int b) { return Json.check(b); }\n}\n",
        },
    )
    table.refresh()
    assert callers(table, "Json.check") == (["Json.java#Json.read", "Main.java#Main.go"], 0)
    assert callees(table, "Json.check") == {}


def test_a_test_calls_symbols(table: SymbolTable, graph: CallGraph) -> None:
    (test,) = table.tests("t.symbol = 'test_an_empty_order_is_refused'")
    (call,) = graph.tests_calling(find_symbol(table, "Order.check"))[0]
    assert call.row == test


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("self.store.create", "create"), ("Cart::new", "new"), ("$this?->rates", "rates")),
        *(("order&.save!", "save!"), ("a!.b", "b"), (r"App\tax", "tax"), ("empty?", "empty?")),
        *((".join", "join"), ("Order().check", "check")),
    ],
)
def test_the_last_part_of_a_call(written: str, name: str) -> None:
    assert last_part(written) == name


def test_methods_with_an_exclamation_mark_are_found(shop: Path, table: SymbolTable) -> None:
    write_files(shop, {"order.rb": "def save!; end\n\ndef keep_all; save!; end\n"})
    table.refresh()
    assert callees(table, "keep_all") == {"save!": ("order.rb#save!", SAME_FILE)}


def test_a_constant_has_no_unclear_callers(shop: Path, table: SymbolTable) -> None:
    code = "HEIGHT = 3\n\n\ndef height(): pass\n\n\nclass Box:\n    def height(self): pass\n"
    write_files(
        shop,
        {"kit/box.py": code, "kit/use.py": "def use(box):\n    box.HEIGHT()\n    box.height()\n"},
    )
    table.refresh()
    graph = CallGraph(table, ImportTargets(table))
    assert find_symbol(table, "HEIGHT").symbol.kind == "constant"
    assert graph.callers(find_symbol(table, "HEIGHT"))[1] == []
    assert graph.callers(find_symbol(table, "Box.height"))[1]
