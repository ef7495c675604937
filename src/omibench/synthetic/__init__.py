"""Problems that are made up to a published study's shape: for rehearsals where its data is absent.

Nothing of a published benchmark is in them but its counts. Everything made from them says so.
"""
