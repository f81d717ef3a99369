"""Object stores: locations, calls, errors, private copies."""
