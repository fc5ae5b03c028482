"""Studies that are drawn from known truth, and what the public analyses make of them."""
