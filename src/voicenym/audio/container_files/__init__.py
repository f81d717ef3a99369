"""Structure of containers: detection, boxes and pages, stated sizes, truncation."""
