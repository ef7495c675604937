"""The words of the prompts that the program sends, and files that take their place.

`names` says which prompts there are, `catalogue` describes each, `wording` reads a file of your
own, `slots` fills its slots, `folder` lists a folder of such files.
"""
