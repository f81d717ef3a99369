"""Recipes, on Lightning.

A folder for each kind of thing that is trained; beside them ``speech``, what all are fed with, and
``run``, how all trainings go. Recipes' sizes and settings lie in ``configs``.
"""
