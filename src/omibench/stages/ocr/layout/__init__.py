"""What stands where on a page: lines, columns, figures, running heads."""
