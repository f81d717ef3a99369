"""Marks in a recording which say that its voices are not the speakers' own."""
