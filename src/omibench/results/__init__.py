"""The results of a study, joined from the files of its stages."""
