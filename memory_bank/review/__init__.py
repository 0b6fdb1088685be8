"""Compare the notes of two revisions: sections, claims, front matter and links."""
