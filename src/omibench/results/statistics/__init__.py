"""Statistics of accuracies and agreement: intervals, paired differences, estimators."""
