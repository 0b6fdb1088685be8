"""What all HTTP servers share."""
