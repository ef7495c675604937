"""What made a result: kept beside it, so that a pulled result is believed for what it is."""
