package projects

// renumber takes over the number that the workspace's device has now: a remount gives it
// another, and the directory is the same.
func (b *Binding) renumber() {
	if b.Workspace == "" {
		return
	}
	if now, err := DirectoryIdentity(b.Workspace); err == nil && b.Identity.IsRenumbered(now) {
		b.Identity = now
	}
}
