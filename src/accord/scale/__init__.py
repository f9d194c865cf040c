"""One seam for running a function over blocks of work."""
