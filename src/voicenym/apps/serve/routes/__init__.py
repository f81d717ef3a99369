"""Routes of the server, what they answer, and their descriptions."""
