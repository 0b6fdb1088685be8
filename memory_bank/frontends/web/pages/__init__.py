"""The pages: one module each.

A page has `TITLE`, `PLACE` (its place in the menu, or None), `PATH` (where the menu leads), and
`routes(site)`; `write_routes(site)`, if it has any, are there only in a dashboard that writes.
"""
