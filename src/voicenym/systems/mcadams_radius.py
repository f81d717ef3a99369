"""VoicePrivacy 2020 system D1: McAdams coefficient with reduced pole radii (wider formants)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.anonymizer import Card
from voicenym.systems.mcadams import McAdams


@dataclass(frozen=True)
class McAdamsRadius(McAdams):
    """B2 with the radii of the moved poles multiplied by ``radius``.

    A pole of radius r has the bandwidth B = -(rate / pi) ln r; a factor of 0.975 adds 129 Hz at
    16 kHz to every formant.

    Args:
        low, high: alpha ~ U(low, high); ``low=0.8, high=0.8`` is the submitted system.
        order: of the linear prediction, even.
        radius: factor on the radii of the moved poles.

    Source: Gupta et al., APSIPA ASC 2020 (D1 in VoicePrivacy 2020).
    """

    radius: float = 0.975

    card: ClassVar[Card] = Card(
        name="mcadams-radius",
        title="McAdams coefficient with widened formants (VoicePrivacy 2020 D1)",
        paper="Gupta, Prajapati, Kamble, Patil, 'Design of Voice Privacy System using Linear "
        "Prediction', APSIPA ASC 2020; Tomashenko et al., CSL 2022 (D1)",
        year=2020,
        equations=("as mcadams, and r' = 0.975 r for complex poles",),
        needs="no weights; 8 kHz or more; CPU or GPU",
        protects="casual listeners and ignorant verifiers, in part",
        promises=("as mcadams; formant bandwidths, which mcadams keeps, change as well",),
        fails=(
            "does not stop an attacker who knows the system: one who trains on voice, prosody, "
            "content, words and room of the output has an EER of 2.4 % (1.3 to 4.3); in "
            "VoicePrivacy 2020 it is within 3.4 points of EER of mcadams, whose trained attackers "
            "reach 1.6 to 7.8 %",
            "pitch and intonation still identify speakers",
        ),
        approximations=(
            "the published radius factor is uncertain; it is the parameter radius, 0.975 by "
            "default",
            "the submission has a fixed alpha of 0.8; here alpha is drawn per pseudonym, so that "
            "different keys give different voices",
            "real poles are left as they are",
        ),
    )
