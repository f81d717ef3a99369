"""What clients send: uploads, fields of forms, formats."""
