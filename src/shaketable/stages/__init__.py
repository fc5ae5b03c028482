"""The arrows of the line, one file each: plan, answer, score, analyze, report."""
