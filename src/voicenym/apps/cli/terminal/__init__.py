"""The terminal: groups of commands, tables, progress, interrupts, standard output."""
