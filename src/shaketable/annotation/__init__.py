"""What people are asked to do: tasks, the log of what they did, and the page they do it on."""
