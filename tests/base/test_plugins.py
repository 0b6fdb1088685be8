import subprocess
from collections.abc import Callable

import pytest

from memory_bank.base import plugins
from memory_bank.base.errors import BadInput


def test_plug_ins_are_the_files_of_a_folder() -> None:
    names = plugins.list_plugins("search.embedders")
    assert {"static", "none"} <= set(names)
    assert names == sorted(names)
    assert not any(name.startswith("_") or name == "base" for name in names)


def test_a_plug_in_is_loaded_by_its_name() -> None:
    assert plugins.load("search.embedders", "none").__name__ == "memory_bank.search.embedders.none"


@pytest.mark.parametrize("name", ["nothing", "", "base", "__init__", "_table", "../config", "a.b"])
def test_any_other_name_is_bad_input_that_names_the_choice(name: str) -> None:
    with pytest.raises(BadInput, match="no embedder called") as caught:
        plugins.load("search.embedders", name)
    assert "static" in caught.value.hint


NAMING = """
import sys
from memory_bank.base import plugins
names = plugins.list_plugins("search.embedders")
print([name for name in names if f"memory_bank.search.embedders.{name}" in sys.modules])
"""


def test_naming_them_imports_none(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert run_python(NAMING).stdout == "[]\n"
