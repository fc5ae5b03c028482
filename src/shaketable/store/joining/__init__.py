"""Several runs that one study could have asked → one run."""
