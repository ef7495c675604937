"""Models behind one protocol. A provider is one module; its SDK loads only when it is used."""
