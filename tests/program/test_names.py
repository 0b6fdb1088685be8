"""Names say what they hold: pronouns and participles are rare among them."""

import ast
import re
from pathlib import Path

import pytest

import memory_bank

VAGUE = set(
    re.findall(
        r"\w+",
        """
        one ones some other others both each every same what which whom it them this that these those
        such found given made said told asked wanted known done had kept shown named seen taken got left
        meant held
        """,
    )
)


DULL = {"item", "items", "thing", "value", "data", "obj", "result"}


@pytest.fixture(scope="module")
def nodes() -> list[ast.AST]:
    paths = Path(memory_bank.__file__).parent.rglob("*.py")
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]


@pytest.fixture(scope="module")
def names(nodes: list[ast.AST]) -> list[str]:
    """List the names of functions, parameters and variables, each as often as it is written."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            found.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.name)
    return [name.strip("_") for name in found]


def test_fewer_than_one_name_in_a_hundred_is_a_pronoun_or_a_participle(names: list[str]) -> None:
    assert len([name for name in names if name in VAGUE]) < len(names) / 100


def test_fewer_than_two_names_in_a_hundred_say_nothing_or_are_one_letter(names: list[str]) -> None:
    assert len([name for name in names if name in DULL or len(name) == 1]) < len(names) / 50


def test_the_name_of_a_class_stands_for_one_thing(nodes: list[ast.AST]) -> None:
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    public = [name for name in classes if not name.startswith("_")]
    assert sorted(public) == sorted(set(public))
