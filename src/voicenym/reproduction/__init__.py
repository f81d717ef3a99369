"""Reproduction of the tables and figures of five papers: published figures beside measured ones."""
