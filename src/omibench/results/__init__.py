"""The results of a study, joined from the files of its stages, for stages that read them all."""
