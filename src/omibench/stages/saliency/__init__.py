"""saliency: which parts of its pictures a model's choice rests on (USNCO-V, Methods)."""
