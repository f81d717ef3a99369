"""Training recipes, on Lightning.

Each kind of trained part has a folder. ``speech`` holds the shared data sets, ``run`` the shared
training loop, and ``configs`` the sizes and settings of recipes.
"""
