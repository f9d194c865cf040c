"""Text to arrays: feature extractors with named groups."""
