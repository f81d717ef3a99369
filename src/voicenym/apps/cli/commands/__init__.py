"""The subcommands of ``voicenym``: a file for each, of its name.

A file reads and checks the options; what a command does lies in the packages beside this one.
"""
