"""Words of recordings with their times, and files of them."""
