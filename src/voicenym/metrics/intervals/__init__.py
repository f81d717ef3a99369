"""Confidence intervals: bootstrap and jackknife over speakers, binomial, corrected for bias."""
