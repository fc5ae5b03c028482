"""What proves that a run is as it was written: sums over tables, a note of the last commit, digests of files."""
