package documents

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Modes is what a snapshot's tree cannot hold of its files: permission bits,
// directories without captured entries, and which paths are one file. It lists
// only what differs from the workspace's most common permission bits.
type Modes struct {
	// File, Executable and Directory are the most common permission bits
	// of each kind; not known where the workspace has none of it.
	File, Executable, Directory Perm
	// Unusual are the permission bits of the files and directories that have
	// others, by path.
	Unusual map[string]uint32
	// Empty are the directories that hold no captured file, link or directory,
	// sorted.
	Empty []string
	// Links are the groups, of two or more captured paths each, that were hard
	// links of one file; sorted, and each group too.
	Links [][]string
}

// Perm is the permission bits that path had, being an entry of this mode in the
// snapshot's tree. Those of a symbolic link are not known.
func (m *Modes) Perm(path string, mode gitstore.Mode) Perm {
	if perm, ok := m.Unusual[path]; ok {
		return KnownPerm(perm)
	}
	switch mode {
	case gitstore.ModeFile:
		return m.File
	case gitstore.ModeExec:
		return m.Executable
	case gitstore.ModeDir:
		return m.Directory
	}
	return Perm{}
}

// Perm is permission bits (07777). The zero value says that they are not known, which
// is something else than mode 000.
type Perm struct {
	bits  uint32
	known bool
}

// KnownPerm is permission bits that are known.
func KnownPerm(bits uint32) Perm { return Perm{bits & 0o7777, true} }

// Known returns the bits, and false if they are not known.
func (p Perm) Known() (bits uint32, ok bool) { return p.bits, p.known }

// Differs reports whether both are known and not the same.
func (p Perm) Differs(other Perm) bool { return p.known && other.known && p.bits != other.bits }

// MarshalText implements encoding.TextMarshaler: as people know them.
func (p Perm) MarshalText() ([]byte, error) {
	if !p.known {
		return nil, nil
	}
	return fmt.Appendf(nil, "%04o", p.bits), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Perm) UnmarshalText(data []byte) error {
	if len(data) == 0 {
		*p = Perm{}
		return nil
	}
	n, err := strconv.ParseUint(string(data), 8, 32)
	if err != nil || n > 0o7777 {
		return fmt.Errorf("%q is not a file mode", data)
	}
	*p = KnownPerm(uint32(n))
	return nil
}

type modesDocument struct {
	Version    int         `json:"version"`
	File       Perm        `json:"file,omitzero"`
	Executable Perm        `json:"executable,omitzero"`
	Directory  Perm        `json:"directory,omitzero"`
	Unusual    []modeEntry `json:"unusual,omitempty"`
	Empty      []text      `json:"empty,omitempty"`
	Links      [][]text    `json:"links,omitempty"`
}

type modeEntry struct {
	Path text `json:"path"`
	Mode Perm `json:"mode"`
}

// Document is modes.json. It is deterministic.
func (m *Modes) Document() []byte {
	doc := modesDocument{
		Version: Version, File: m.File, Executable: m.Executable,
		Directory: m.Directory, Empty: gitstore.Texts(m.Empty),
	}
	for _, path := range slices.Sorted(maps.Keys(m.Unusual)) {
		doc.Unusual = append(doc.Unusual, modeEntry{Path: text(path), Mode: KnownPerm(m.Unusual[path])})
	}
	for _, group := range m.Links {
		doc.Links = append(doc.Links, gitstore.Texts(group))
	}
	return encode(doc)
}

// ParseModes reads modes.json. An error is an *Error.
func ParseModes(data []byte) (*Modes, error) {
	var doc modesDocument
	if err := decode("modes.json", data, &doc); err != nil {
		return nil, err
	}
	m := &Modes{
		File: doc.File, Executable: doc.Executable, Directory: doc.Directory,
		Unusual: make(map[string]uint32, len(doc.Unusual)), Empty: gitstore.Strings(doc.Empty),
	}
	for _, e := range doc.Unusual {
		if bits, ok := e.Mode.Known(); ok {
			m.Unusual[string(e.Path)] = bits
		}
	}
	for _, group := range doc.Links {
		m.Links = append(m.Links, gitstore.Strings(group))
	}
	return m, nil
}
