"""Names of recordings in folders."""

from pathlib import Path

from voicenym.corpus.readers.folder_walk import named_as_outputs


def test_recordings_named_as_outputs_beside_their_originals_are_told():
    names = ["a/talk.m4a", "a/talk.anon.m4a", "a/call.amr", "a/call.preview.wav"]
    (line,) = named_as_outputs(Path(name) for name in names)
    assert "(2)" in line
    assert "a/talk.anon.m4a, a/call.preview.wav" in line


def test_names_alone_without_an_original_say_nothing():
    apart = ["a/talk.anon.wav", "b/talk.wav", "a/mr.smith.wav", "a/mr.wav", "a/anon.wav"]
    assert named_as_outputs(map(Path, apart)) == []
