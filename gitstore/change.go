package gitstore

// Change is one path that differs between two trees. From or To is zero where
// the path is not in that tree. A file that became a directory, or the reverse,
// is a deletion and additions. Directories themselves are never given.
type Change struct {
	Path     string
	From, To TreeEntry
}

// ChangeType is what happened to a path.
type ChangeType byte

// The types of a change, with the letters of git's --name-status.
const (
	Added    ChangeType = 'A'
	Deleted  ChangeType = 'D'
	Modified ChangeType = 'M'
	// TypeChanged is a change between file, symbolic link and gitlink.
	TypeChanged ChangeType = 'T'
	// Renamed is given only by a Differ.
	Renamed ChangeType = 'R'
)

// Type classifies the change.
func (c Change) Type() ChangeType {
	switch {
	case c.From.ID.IsZero():
		return Added
	case c.To.ID.IsZero():
		return Deleted
	case c.From.Mode != c.To.Mode && !(regular(c.From.Mode) && regular(c.To.Mode)):
		return TypeChanged
	}
	return Modified
}

func regular(m Mode) bool { return m == ModeFile || m == ModeExec }
