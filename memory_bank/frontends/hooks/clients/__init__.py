"""One file for each agent's program whose hooks are understood; see `base.py`."""
