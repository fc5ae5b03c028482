"""What `explain` tries: smaller evidence and smaller rewordings, asked anew and judged."""
