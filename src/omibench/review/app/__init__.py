"""Web application for reviewers: a server, and pages that load nothing from other hosts."""
