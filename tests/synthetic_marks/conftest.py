"""A signer for the tests."""

import pytest
from signing_certificates import signer_files


@pytest.fixture
def credential_files(tmp_path):
    return signer_files(tmp_path)
