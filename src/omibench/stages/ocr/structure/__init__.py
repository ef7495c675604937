"""Convert lines to problems: numbering, stems, choices, sections."""
