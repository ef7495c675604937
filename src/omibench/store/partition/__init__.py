"""A partition: the responses of one model, as segments, packs and their indexes."""
