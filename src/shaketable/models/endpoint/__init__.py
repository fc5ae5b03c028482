"""What the model behind an endpoint is made of: requests, replies, failures, and the line they wait in."""
