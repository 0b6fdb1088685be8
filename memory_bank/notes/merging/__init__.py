"""Three-way merge of note texts: front matter by key, body by section."""
