"""The three published studies: their figures and claims, beside one's own run."""
