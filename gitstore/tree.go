package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Mode is the mode of a tree entry, with Git's values.
type Mode uint32

const (
	// ModeDir is a subtree.
	ModeDir Mode = 0o040000
	// ModeFile is a file that is not executable.
	ModeFile Mode = 0o100644
	// ModeExec is an executable file.
	ModeExec Mode = 0o100755
	// ModeSymlink is a symbolic link; the blob is its target.
	ModeSymlink Mode = 0o120000
	// ModeGitlink names a commit of another repository. Captures never write
	// one; a user's tree may hold some.
	ModeGitlink Mode = 0o160000
)

// IsDir reports whether the entry is a subtree.
func (m Mode) IsDir() bool { return m == ModeDir }

// IsBlob reports whether the entry's object is a blob.
func (m Mode) IsBlob() bool { return m == ModeFile || m == ModeExec || m == ModeSymlink }

// String gives Git's six octal digits.
func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// TreeEntry is one entry of a tree. Name is one path component, any bytes but
// "/" and NUL.
type TreeEntry struct {
	Name string
	Mode Mode
	ID   ID
}

// compareEntries is Git's order: a directory sorts as if its name ended in "/".
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(byteAt(a.Name, n, a.Mode.IsDir())) - int(byteAt(b.Name, n, b.Mode.IsDir()))
}

func byteAt[text string | []byte](name text, i int, dir bool) byte {
	switch {
	case i < len(name):
		return name[i]
	case dir && i == len(name):
		return '/'
	}
	return 0
}

// SortEntries puts entries in the order that a Git tree needs.
func SortEntries(entries []TreeEntry) { slices.SortFunc(entries, compareEntries) }

// EncodeTree serialises entries, which must be in Git's order. It refuses what
// fsck would call broken.
func EncodeTree(entries []TreeEntry) ([]byte, error) {
	size := 0
	for _, e := range entries {
		size += len(e.Name) + IDSize + 8
	}
	out := make([]byte, 0, size)
	for i, e := range entries {
		if err := checkEntry(e); err != nil {
			return nil, err
		}
		if i > 0 && compareEntries(entries[i-1], e) >= 0 || e.Mode.IsDir() && hasFile(entries[:i], e.Name) {
			return nil, fmt.Errorf("tree entry %q is double or out of order", e.Name)
		}
		out = fmt.Appendf(out, "%o ", uint32(e.Mode))
		out = append(out, e.Name...)
		out = append(out, 0)
		out = append(out, e.ID[:]...)
	}
	return out, nil
}

// hasFile looks for a file of that name before a directory's place, from which
// names that begin alike, such as "a.b" between "a" and "a/", can part it.
func hasFile(entries []TreeEntry, name string) bool {
	for i := len(entries) - 1; i >= 0 && strings.HasPrefix(entries[i].Name, name); i-- {
		if entries[i].Name == name {
			return true
		}
	}
	return false
}

// CheckName refuses what no entry of a tree may be called.
func CheckName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || beneath.IsGitDisguise(name) {
		return fmt.Errorf("%q cannot be the name of a tree entry", name)
	}
	return nil
}

func checkEntry(e TreeEntry) error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	switch {
	case e.ID.IsZero():
		return fmt.Errorf("tree entry %q has no object", e.Name)
	case !e.Mode.IsBlob() && e.Mode != ModeDir && e.Mode != ModeGitlink:
		return fmt.Errorf("tree entry %q has the unknown mode %s", e.Name, e.Mode)
	}
	return nil
}

// ParseTree is lenient about names and order, as Git is when it reads; old
// group-writable modes (100664) are given as ModeFile.
func ParseTree(data []byte) ([]TreeEntry, error) {
	entries := make([]TreeEntry, 0, len(data)/36+1)
	text := string(data) // of which the names are parts: one allocation for all
	r, err := ReadTree(data)
	for at := 0; r.OK && err == nil; err = r.Next() {
		name := at + bytes.IndexByte(data[at:], ' ') + 1
		entries = append(entries, TreeEntry{Name: text[name : name+len(r.Head.Name)], Mode: r.Head.Mode, ID: r.Head.ID})
		at = len(data) - len(r.rest)
	}
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func parseMode(octal []byte) (Mode, error) {
	var m uint32
	for _, c := range octal {
		if c < '0' || c > '7' {
			return 0, Damaged("mode %q of a tree entry", octal)
		}
		m = m<<3 | uint32(c-'0')
	}
	switch m & 0o170000 {
	case 0o040000:
		return ModeDir, nil
	case 0o120000:
		return ModeSymlink, nil
	case 0o160000:
		return ModeGitlink, nil
	case 0o100000:
		if m&0o100 != 0 {
			return ModeExec, nil
		}
		return ModeFile, nil
	}
	return 0, Damaged("mode %q of a tree entry", octal)
}

// EmptyTree is the id of the tree without entries; Git knows it even where it
// is not stored, and so does Tree.
func EmptyTree() ID {
	return ID{0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60,
		0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb, 0xee, 0x49, 0x04}
}

// EmptyBlob is the id of the blob without content.
func EmptyBlob() ID {
	return ID{0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b,
		0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91}
}

// SkipTree, returned by a WalkTree function for a subtree, leaves out what is
// below it.
//
//lint:ignore ST1012 named like fs.SkipDir, which it is to a tree
var SkipTree = errors.New("skip this subtree")
