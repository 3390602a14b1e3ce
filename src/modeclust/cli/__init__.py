"""The command line: `app` has the commands, the other modules what they do."""
