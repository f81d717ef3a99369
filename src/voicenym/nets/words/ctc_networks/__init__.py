"""Networks of characters or phones that CTC trains, and CTC itself."""
