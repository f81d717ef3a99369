"""Closes the memory of the process that imports it, which is the one that workers are copied from.

That process only imports modules, so that an import is the only way to do it there. No other module
may import this one.
"""

from voicenym.apps.serve.worker_isolation.process_access import close_memory

close_memory()
