"""One file per family of causes. A rule looks at one rank and claims a fault for it, or says nothing."""
