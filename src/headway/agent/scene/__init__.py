"""What a live attempt looks like on this node when the server asks: processes, stacks, collectives, network, disks."""
