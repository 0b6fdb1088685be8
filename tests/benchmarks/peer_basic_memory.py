"""Ask basic-memory in its text mode, in one process: run by the Python that it is installed in.

stdin: {"project": NAME, "questions": [...], "limit": N}; stdout: [[[name, ...], seconds], ...]
"""

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path


async def answers(wanted: dict[str, object]) -> list[object]:
    """Ask every question after a first one that loads what is loaded once."""
    from basic_memory.mcp.tools import search_notes  # type: ignore[import-not-found]

    async def ask(question: str) -> list[str]:
        found = await search_notes(
            query=question,
            project=wanted["project"],
            search_type="text",
            entity_types=["entity"],
            page_size=wanted["limit"],
            output_format="json",
        )
        return [Path(one["file_path"]).stem for one in found["results"]]

    questions = wanted["questions"]
    assert isinstance(questions, list)
    await ask(questions[0])
    told: list[object] = []
    for question in questions:
        started = time.perf_counter()
        names = list(dict.fromkeys(await ask(question)))
        told.append([names, time.perf_counter() - started])
    return told


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = asyncio.run(answers(json.load(sys.stdin)))
    print(json.dumps(found))
