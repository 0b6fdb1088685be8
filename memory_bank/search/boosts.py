"""Factors for a note's age and accesses; all constants are settings."""

from __future__ import annotations

import math

from memory_bank.activity.access import Access
from memory_bank.setting_sections import Memory

_DAY = 86400.0
_FULL_COUNT = 100
"""Number of accesses at which the count's boost reaches its weight."""


def access(settings: Memory, accessed: Access, now: float) -> float:
    """Return 1 + w1·max(0, 1 − age/30 d) + w2·ln(n + 1)/ln 100, with the age of the last access."""
    age = (now - accessed.last) / (settings.access_boost_days * _DAY)
    recent = max(0.0, 1.0 - max(0.0, age)) if accessed.times else 0.0
    often = math.log(accessed.times + 1) / math.log(_FULL_COUNT)
    return 1.0 + settings.access_recency_weight * recent + settings.access_count_weight * often


def recency(settings: Memory, created: float, now: float) -> float:
    """Return the boost of a note created within `recency_boost_days`, else 1."""
    young = 0 <= now - created < settings.recency_boost_days * _DAY
    return settings.recency_boost_factor if young else 1.0


def upper_bound(settings: Memory) -> float:
    """Return an upper bound of a note's combined factors, for up to a hundred million accesses."""
    accessed = 1.0 + settings.access_recency_weight + 4.0 * settings.access_count_weight
    return accessed * settings.recency_boost_factor
