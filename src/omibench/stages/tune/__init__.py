"""Stage `tune`: fine-tuning on multi-image data (OMIBench, 6.4 and table 9)."""
