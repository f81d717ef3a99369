"""Reports of an evaluation: pages, tables and sentences."""
