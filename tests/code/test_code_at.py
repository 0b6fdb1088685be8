"""The files of a commit are found by the ends of their paths, in a time that grows with neither."""

import time
from pathlib import Path

import pytest

from memory_bank.code.code_at import CodeAt
from tests.git.history_builder import Made, make
from tests.support.growth import times_as_long


def test_a_file_is_found_by_the_end_of_its_path_if_only_one_has_it(tmp_path: Path) -> None:
    files = dict.fromkeys(["src/jobs/run.py", "lib/run.py", "src/jobs/README.md", "top.py"], "x")
    tree = make(tmp_path / "tree", [Made(files)])
    code = CodeAt(tree)
    found = {
        name: code.find_file("HEAD", name)
        for name in ("lib/run.py", "jobs/run.py", "run.py", "bs/run.py", "README.md", "top.py")
    }
    code.close()
    assert found == {
        "lib/run.py": "lib/run.py",
        "jobs/run.py": "src/jobs/run.py",
        "run.py": "",
        "bs/run.py": "",
        "README.md": "",
        "top.py": "top.py",
    }


@pytest.mark.slow
def test_the_time_of_a_citation_does_not_grow_with_the_repository(tmp_path: Path) -> None:
    def took(files: int) -> float:
        code = CodeAt(tmp_path)
        code._paths["HEAD"] = frozenset(
            f"src/{number}/module{number}.py" for number in range(files)
        )
        names = [f"lib/ghost{number}.py" for number in range(500)]
        code._ids.update({("HEAD", name): "" for name in names})
        code.find_file("HEAD", names[0])
        start = time.process_time()
        assert not any(code.find_file("HEAD", name) for name in names)
        return time.process_time() - start

    assert times_as_long(took, 2_000, 40_000, enough=0.02, most=5) < 5
