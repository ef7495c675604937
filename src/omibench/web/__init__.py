"""Pages written by omibench, from templates that escape every value."""
