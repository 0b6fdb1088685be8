"""Each row of the ablation is measured."""

import json
from pathlib import Path

import pytest

from tests.benchmarks import ablation

DOCUMENTS = {
    "near": "The lock timeout of a writer is five seconds.",
    "far": "A lock of paper boats. Each writer waits; its guests leave, and so does the timeout.",
    "other": "Vectors are kept by the hash of a text.",
}


def test_each_part_that_is_left_out_has_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps({"_id": name, "text": text}) for name, text in DOCUMENTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "lock timeout"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tnear\t1\n")
    ablation.main(["--embedder", "static", "--only", str(tmp_path)])
    rows = capsys.readouterr().out.strip().split("\n")[2:]
    assert rows == [f"| {part} | 1.000 / 1.000 |" for part in ablation.PARTS]
