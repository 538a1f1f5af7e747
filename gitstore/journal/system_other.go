//go:build unix && !linux && !darwin

package journal

// renameNew renames unless the new name exists.
func renameNew(from, to string) error { return linkNew(from, to) }
