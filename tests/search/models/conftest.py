"""What the tests of models share."""

from tests.search.embedders.conftest import cache, pytest_collection_modifyitems

__all__ = ["cache", "pytest_collection_modifyitems"]
