"""Names say what they hold: pronouns and participles are rare among them."""

import ast
from pathlib import Path

import memory_bank

VAGUE = {
    "one",
    "ones",
    "some",
    "other",
    "others",
    "both",
    "each",
    "every",
    "same",
    "what",
    "which",
    "whom",
    "it",
    "them",
    "this",
    "that",
    "these",
    "those",
    "such",
    "found",
    "given",
    "made",
    "said",
    "told",
    "asked",
    "wanted",
    "known",
    "done",
    "had",
    "kept",
    "shown",
    "named",
    "seen",
    "taken",
    "got",
    "left",
    "meant",
    "held",
}


def test_fewer_than_one_name_in_a_hundred_is_a_pronoun_or_a_participle() -> None:
    names = []
    for path in Path(memory_bank.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name):
                names.append(node.id)
            elif isinstance(node, ast.arg | ast.keyword) and node.arg:
                names.append(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.append(node.name)
    vague = [name for name in names if name.strip("_") in VAGUE]
    assert len(vague) < len(names) / 100
