"""Adversarial perturbation networks against speaker verifiers."""
