"""Starting the processes of a cluster: on this machine, or by a manifest for a scheduler."""
