"""Analysis, model and core of ``base``, whose small model is bundled with the package."""
