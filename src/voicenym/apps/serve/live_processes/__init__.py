"""Live sessions of the server, each in a process of its own."""
