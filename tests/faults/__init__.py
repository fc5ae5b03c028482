"""What is done to runs, files and endpoints to break them."""
