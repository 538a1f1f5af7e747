package capture

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Modes is what a snapshot's tree cannot hold of its files: permission bits,
// directories without captured entries, and which paths are one file. It lists
// only what differs from the workspace's most common permission bits.
type Modes struct {
	// File, Executable and Directory are the most common permission bits
	// (07777) of each kind; 0 where the workspace has none of it.
	File, Executable, Directory uint32
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

// Perm is the permission bits (07777) that path had, being an entry of this
// mode in the snapshot's tree; 0 if that is not known, as for a symbolic link.
func (m *Modes) Perm(path string, mode gitstore.Mode) uint32 {
	if perm, ok := m.Unusual[path]; ok {
		return perm
	}
	switch mode {
	case gitstore.ModeFile:
		return m.File
	case gitstore.ModeExec:
		return m.Executable
	case gitstore.ModeDir:
		return m.Directory
	}
	return 0
}

type modesDocument struct {
	Version    int         `json:"version"`
	File       octal       `json:"file,omitempty"`
	Executable octal       `json:"executable,omitempty"`
	Directory  octal       `json:"directory,omitempty"`
	Unusual    []modeEntry `json:"unusual,omitempty"`
	Empty      []text      `json:"empty,omitempty"`
	Links      [][]text    `json:"links,omitempty"`
}

type modeEntry struct {
	Path text  `json:"path"`
	Mode octal `json:"mode"`
}

// octal is permission bits, written as people know them.
type octal uint32

// MarshalText implements encoding.TextMarshaler.
func (o octal) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint32(o)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *octal) UnmarshalText(data []byte) error {
	n, err := strconv.ParseUint(string(data), 8, 32)
	if err != nil || n > 0o7777 {
		return fmt.Errorf("%q is not a file mode", data)
	}
	*o = octal(n)
	return nil
}

// Document is modes.json. It is deterministic.
func (m *Modes) Document() []byte {
	doc := modesDocument{
		Version: documentVersion, File: octal(m.File), Executable: octal(m.Executable),
		Directory: octal(m.Directory), Empty: texts(m.Empty),
	}
	paths := make([]string, 0, len(m.Unusual))
	for path := range m.Unusual {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		doc.Unusual = append(doc.Unusual, modeEntry{Path: text(path), Mode: octal(m.Unusual[path])})
	}
	for _, group := range m.Links {
		doc.Links = append(doc.Links, texts(group))
	}
	return encodeDocument(doc)
}

// ParseModes reads modes.json. An error is a *DocumentError.
func ParseModes(data []byte) (*Modes, error) {
	var doc modesDocument
	if err := decodeDocument("modes.json", data, &doc); err != nil {
		return nil, err
	}
	m := &Modes{
		File: uint32(doc.File), Executable: uint32(doc.Executable), Directory: uint32(doc.Directory),
		Unusual: make(map[string]uint32, len(doc.Unusual)), Empty: plain(doc.Empty),
	}
	for _, e := range doc.Unusual {
		m.Unusual[string(e.Path)] = uint32(e.Mode)
	}
	for _, group := range doc.Links {
		m.Links = append(m.Links, plain(group))
	}
	return m, nil
}
