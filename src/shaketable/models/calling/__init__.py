"""What a pipeline is called with: its code found, kept in processes of its own, or asked over HTTP."""
