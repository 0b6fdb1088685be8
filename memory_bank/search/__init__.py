"""From a parsed query to ranked hits with the reasons for their scores."""
