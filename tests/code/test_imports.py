from collections.abc import Mapping

import pytest

from memory_bank.code.imports import Imports
from memory_bank.code.parse.parsed_file import Import


def found(files: Mapping[str, str] | list[str], path: str, target: str, *names: str) -> list[str]:
    """Return the files that an import means; files may have texts."""
    texts = files if isinstance(files, Mapping) else {}
    return Imports([*files, path], lambda one: texts.get(one, "")).find_files(
        path, Import(target, names, 1)
    )


PYTHON = [
    "src/shop/__init__.py", "src/shop/cart.py", "src/shop/pay/__init__.py", "src/shop/pay/card.py",
    "src/shop/json/__init__.py", "src/shop/logging.py", "tests/conftest.py", "setup.py",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "target", "names", "files"),
    [
        ("src/shop/app.py", "shop.cart", (), ["src/shop/cart.py"]),
        ("src/shop/app.py", "shop.cart", ("Cart",), ["src/shop/cart.py"]),
        ("src/shop/app.py", "shop", ("cart",), ["src/shop/cart.py"]),
        (
            "src/shop/app.py",
            "shop",
            ("cart", "Error"),
            ["src/shop/cart.py", "src/shop/__init__.py"],
        ),
        ("src/shop/app.py", ".cart", ("Cart",), ["src/shop/cart.py"]),
        ("src/shop/app.py", ".", ("cart",), ["src/shop/cart.py"]),
        ("src/shop/pay/bank.py", "..cart", ("Cart",), ["src/shop/cart.py"]),
        ("src/shop/pay/bank.py", "..", ("cart",), ["src/shop/cart.py"]),
        ("src/shop/pay/bank.py", ".card", (), ["src/shop/pay/card.py"]),
        ("tests/test_pay.py", "shop.pay.card", ("Card",), ["src/shop/pay/card.py"]),
        ("tests/test_pay.py", "shop.pay", ("Card",), ["src/shop/pay/__init__.py"]),
        ("tests/test_pay.py", "conftest", (), ["tests/conftest.py"]),
        ("src/shop/app.py", "json", (), []),
        ("src/shop/app.py", "logging", (), []),
        ("src/shop/app.py", "cart", (), []),
        ("src/shop/app.py", "requests", (), []),
        ("src/shop/app.py", "........a", (), []),
    ],
)
def test_python_modules_are_files(
    path: str, target: str, names: tuple[str, ...], files: list[str]
) -> None:
    assert found(PYTHON, path, target, *names) == files


def test_a_module_of_several_packages_is_the_nearest() -> None:
    files = ["one/lib/util.py", "two/lib/util.py"]
    assert found(files, "two/lib/main.py", "util") == ["two/lib/util.py"]
    assert found(files, "one/main.py", "lib.util") == ["one/lib/util.py"]


SCRIPTS = [
    "index.js", "lib/app.js", "lib/router/index.ts", "lib/data.json", "src/ui/button.tsx",
    "lib/types.d.ts", "lib/style.css",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "target", "files"),
    [
        ("lib/main.js", "./app", ["lib/app.js"]),
        ("lib/main.js", "./app.js", ["lib/app.js"]),
        ("lib/main.ts", "./router", ["lib/router/index.ts"]),
        ("lib/main.ts", "./router/index.js", ["lib/router/index.ts"]),
        ("lib/main.ts", "./data.json", ["lib/data.json"]),
        ("lib/main.ts", "./types", ["lib/types.d.ts"]),
        ("lib/main.ts", "./style.css", ["lib/style.css"]),
        ("test/app.js", "..", ["index.js"]),
        ("test/app.js", "../", ["index.js"]),
        ("test/app.js", "../lib/app?raw", ["lib/app.js"]),
        ("src/main.ts", "@/ui/button", ["src/ui/button.tsx"]),
        ("lib/main.js", "express", []),
        ("lib/main.js", "./gone", []),
        ("lib/main.js", "../../outside", []),
    ],
)
def test_scripts_are_found_with_and_without_suffix(
    path: str, target: str, files: list[str]
) -> None:
    assert found(SCRIPTS, path, target) == files


def test_go_packages_are_the_files_of_a_folder() -> None:
    files = {
        "go.mod": "// a comment\nmodule github.com/some/shop // v1\n\ngo 1.22\n",
        "cart/cart.go": "",
        "cart/cart_test.go": "",
        "main.go": "",
        "tools/go.mod": "module example.org/tools\n",
        "tools/gen/gen.go": "",
    }
    path = "cmd/run.go"
    assert found(files, path, "github.com/some/shop/cart") == ["cart/cart.go"]
    assert found(files, path, "github.com/some/shop") == ["main.go"]
    assert found(files, path, "example.org/tools/gen") == ["tools/gen/gen.go"]
    assert found(files, path, "github.com/other/shop/cart") == []
    assert found(files, path, "cart") == []


def test_a_package_of_many_files_means_all_of_them() -> None:
    files = {"go.mod": "module m\n", **{f"big/{number}.go": "" for number in range(21)}}
    assert len(found(files, "main.go", "m/big")) == 21


RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/search/Cargo.toml": '[package]\nname = "shop-search"\nversion = "1"\n',
    "crates/search/src/lib.rs": "",
    "crates/search/src/index.rs": "",
    "crates/search/src/query/mod.rs": "",
    "crates/search/src/query/parse.rs": "",
    "src/main.rs": "",
    "src/flags.rs": "",
    "src/flags/defs.rs": "",
}


@pytest.mark.parametrize(
    ("path", "target", "names", "files"),
    [
        ("src/main.rs", "flags", (), ["src/flags.rs"]),
        ("src/main.rs", "mod flags", (), ["src/flags.rs"]),
        ("src/flags.rs", "defs", (), ["src/flags/defs.rs"]),
        ("src/main.rs", "crate::flags", ("HiArgs",), ["src/flags.rs"]),
        ("src/main.rs", "crate::flags::{HiArgs, SearchMode}", (), ["src/flags.rs"]),
        ("src/main.rs", "crate::flags::defs::FLAGS", (), ["src/flags/defs.rs"]),
        ("src/flags/defs.rs", "super::Flag", (), ["src/flags.rs"]),
        (
            "crates/search/src/query/parse.rs",
            "crate::index::Index",
            (),
            ["crates/search/src/index.rs"],
        ),
        (
            "crates/search/src/query/parse.rs",
            "super::super::index",
            (),
            ["crates/search/src/index.rs"],
        ),
        ("crates/search/src/lib.rs", "self::query", ("Query",), ["crates/search/src/query/mod.rs"]),
        ("src/main.rs", "shop_search::index::Index", (), ["crates/search/src/index.rs"]),
        ("src/main.rs", "shop_search", ("Search",), ["crates/search/src/lib.rs"]),
        ("src/main.rs", "shop_search::Search", (), ["crates/search/src/lib.rs"]),
        ("src/main.rs", "std::io", ("Write",), []),
        ("src/flags.rs", "crate::Error", (), ["src/main.rs"]),
        ("src/main.rs", "self", ("run",), []),
        ("src/main.rs", "", (), []),
    ],
)
def test_rust_modules_are_files(
    path: str, target: str, names: tuple[str, ...], files: list[str]
) -> None:
    assert found(RUST, path, target, *names) == files


JAVA = ["core/src/main/java/org/shop/Cart.java", "core/src/main/java/org/shop/pay/Card.java"]


@pytest.mark.parametrize(
    ("target", "names", "files"),
    [
        ("org.shop.Cart", (), JAVA[:1]),
        ("org.shop", ("Cart",), JAVA[:1]),
        ("org.shop.Cart.Line", (), JAVA[:1]),
        ("static org.shop.Cart.total", (), JAVA[:1]),
        ("org.shop.pay.*", (), JAVA[1:]),
        ("org.shop.pay", ("*",), JAVA[1:]),
        ("java.util.List", (), []),
    ],
)
def test_java_classes_are_files(target: str, names: tuple[str, ...], files: list[str]) -> None:
    path = "core/src/test/java/org/shop/CartTest.java"
    assert found(JAVA, path, target, *names) == files


@pytest.mark.parametrize(
    ("files", "path", "target", "expected"),
    [
        (["src/a.h", "b/a.h"], "src/a.c", "a.h", ["src/a.h"]),
        (["include/shop/a.h"], "src/a.cpp", "shop/a.h", ["include/shop/a.h"]),
        (["include/shop/a.h"], "src/a.cpp", "<shop/a.h>", ["include/shop/a.h"]),
        (["include/shop/a.h"], "src/a.cpp", "../include/shop/a.h", ["include/shop/a.h"]),
        (["src/a.h"], "src/a.c", "stdio.h", []),
        (["lib/shop/cart.rb"], "lib/shop.rb", "shop/cart", ["lib/shop/cart.rb"]),
        (["lib/shop/cart.rb"], "test/cart_test.rb", "../lib/shop/cart", ["lib/shop/cart.rb"]),
        (["lib/shop/cart.rb"], "test/cart_test.rb", "shop/cart", ["lib/shop/cart.rb"]),
        (["lib/shop/set.rb"], "test/cart_test.rb", "set", []),
        (["src/Pay/Card.php"], "src/Cart.php", "Shop\\Pay\\Card", ["src/Pay/Card.php"]),
        (["src/Card.php"], "src/Cart.php", "Shop\\Gone", []),
        (["lib/card.php"], "lib/cart.php", "/card.php", ["lib/card.php"]),
        (["Shop/Pay/Card.cs", "Shop/Pay/Bank.cs"], "Shop/Cart.cs", "Shop.Pay", ["Shop/Pay/Bank.cs", "Shop/Pay/Card.cs"]),
        (["Pay/Card.cs"], "Cart.cs", "Shop.Pay", ["Pay/Card.cs"]),
        (["Pay/Card.cs"], "Cart.cs", "System.Linq", []),
        (["bin/lib.sh"], "bin/run.sh", "./lib.sh", ["bin/lib.sh"]),
        (["bin/lib.sh"], "run.bash", "bin/lib.sh", ["bin/lib.sh"]),
        (["a.txt"], "notes.md", "a.txt", []),
    ],
)  # fmt: skip
def test_files_are_found_by_their_ends(
    files: list[str], path: str, target: str, expected: list[str]
) -> None:
    assert found(files, path, target) == expected


@pytest.mark.parametrize("suffix", ["py", "js", "go", "rs", "java", "c", "rb", "php", "cs", "sh"])
@pytest.mark.parametrize("target", ["", ".", "..", "/", "*", "::", "\\", "a\0b", "../" * 50, "{"])
def test_any_target_has_an_answer(suffix: str, target: str) -> None:
    path = f"src/a.{suffix}"
    assert path not in found(["src/b.py", "index.js"], path, target)
    assert path not in found([], path, target, "", "*", "x y")
