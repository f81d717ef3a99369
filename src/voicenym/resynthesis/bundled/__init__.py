"""The machine of ``base``: a small model that comes with the package."""
