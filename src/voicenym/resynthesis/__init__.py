"""Speech taken apart and put together as somebody else: the machine behind such systems."""
