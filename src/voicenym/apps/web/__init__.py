"""What every local server of the package shares; it serves ASGI applications of any framework.

``hardening.hardened`` wraps an application, and ``local_server.run_server`` runs it where
``bind_rules.Binding`` allows. ``problem_details.Problem`` is the error that a handler raises,
``upload_folder.UploadFolder`` holds what clients send, ``static_files.StaticFiles`` serves pages of
the package, ``bearer_tokens.BearerTokens`` are those who may ask, and ``work_slots.WorkSlots``
bounds parallel work. These modules import nothing but the standard
library and uvicorn, and that only to run.
"""
