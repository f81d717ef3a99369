"""``voicenym serve``: the systems behind an HTTP interface and a page.

The server's process speaks HTTP and decodes nothing. Each recording goes through one worker process
that ends with it.
"""
