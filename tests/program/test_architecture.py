"""The modules of the package import one way; that rooms do is held by import-linter."""

import networkx as nx
import pytest

grimp = pytest.importorskip("grimp")


def test_no_modules_import_each_other_not_even_for_types_or_in_functions() -> None:
    found = grimp.build_graph("memory_bank", cache_dir=None)
    graph = nx.DiGraph(
        (module, imported)
        for module in found.modules
        for imported in found.find_modules_directly_imported_by(module)
    )
    circles = [sorted(one) for one in nx.strongly_connected_components(graph) if len(one) > 1]
    assert circles == []
