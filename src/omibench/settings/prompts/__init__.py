"""The prompts that the program sends, and files that replace them.

`names` lists the prompts, `catalogue` describes each, `wording` reads a custom file, `slots` fills
its slots, `folder` lists a folder of such files.
"""
