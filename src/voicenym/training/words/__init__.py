"""Recipes of recognisers."""
