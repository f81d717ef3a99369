"""The machine behind ``asr-tts``: what was said as text, spoken by a synthesiser."""
