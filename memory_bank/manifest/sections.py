"""Read the sections that have a name, such as observations of sessions."""

from __future__ import annotations

from collections.abc import Collection

from memory_bank.manifest.manifest import Manifest

OBSERVATION = "obs-"
"""Start of the name of a section that is an observation: it also has the field OBS_TYPE."""
OBS_TYPE = "obs_type"

# the last condition makes SQLite use the partial index
_NAMED = "s.name >= 'obs-' AND s.name < 'obs.' AND s.name <> ''"
IS_OBSERVATION = (
    f"{_NAMED} AND EXISTS (SELECT 1 FROM section_fields AS f WHERE f.document = s.document"
    f" AND f.ordinal = s.ordinal AND f.key = '{OBS_TYPE}')"
)
"""Condition of a section `s`."""
_OF_PASSAGE = "passages AS p JOIN sections AS s ON s.document = p.document AND ordinal = section"


def any_observation(manifest: Manifest) -> bool:
    """Tell whether any section may be an observation."""
    sql = f"SELECT 1 FROM sections AS s WHERE {_NAMED} LIMIT 1"
    return manifest.execute(sql).fetchone() is not None


def observed(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map those of some passages that are in an observation to the number of its section."""
    if not any_observation(manifest):
        return {}
    sql = f"SELECT row, ordinal FROM {_OF_PASSAGE} WHERE row IN ({{}}) AND {IS_OBSERVATION}"
    return dict(manifest.chunked(sql, list(rows)))


def ordinals(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map some passages to the numbers of their sections; -1 for a passage in none."""
    sql = "SELECT row, section FROM passages WHERE row IN ({})"
    return dict(manifest.chunked(sql, list(rows)))
