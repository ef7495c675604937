"""Model providers behind one protocol. Each is one module; its SDK is imported on first use."""
