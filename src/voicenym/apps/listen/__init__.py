"""Server and page of listening tests."""
