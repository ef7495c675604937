"""What people correct of a reading: `corrections.yaml`, applied while papers are read."""
