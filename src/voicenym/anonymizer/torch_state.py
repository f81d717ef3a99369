"""Settings of torch that hold for a whole process or thread, and would change every voice."""

from __future__ import annotations

from voicenym.errors import VoicenymError


def check_torch_state() -> None:
    """Checks that torch computes as it does in the commands.

    Under another default type or device, or in automatic mixed precision, systems fail within, or
    make voices other than those of their pseudonyms.

    Raises:
        VoicenymError: the default type is not float32, the default device is not the processor, or
            autocast is on; the message has the cure.
    """
    import torch

    if torch.get_default_dtype() != torch.float32:
        raise VoicenymError(
            f"the default type of torch is {torch.get_default_dtype()}, with which a pseudonym has "
            "another voice; call torch.set_default_dtype(torch.float32) before"
        )
    if (device := torch.get_default_device()).type != "cpu":
        raise VoicenymError(
            f"the default device of torch is {device}, and systems keep signals on the processor; "
            "call torch.set_default_device(None) before, and choose a device by "
            "voicenym.load(..., device=...)"
        )
    if any(torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda")):
        raise VoicenymError(
            "autocast is on, with which a pseudonym has another voice; anonymize outside of it, or "
            "within torch.autocast('cpu', enabled=False)"
        )
