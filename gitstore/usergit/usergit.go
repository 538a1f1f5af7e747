// Package usergit reads the user's own Git repository: where it is, its HEAD,
// the operation in progress, its index and configuration. It never writes
// there, takes no lock, refreshes no index and runs no git, except for the one
// `git config --list` of ReadConfiguration. It must not import go-git: objects
// are read through the Objects that a caller supplies.
//
// Formats: gitrepository-layout(5), gitformat-index(5), git-config(1) and
// extensions in Documentation/technical/repository-version of Git.
package usergit

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrNoRepository says that no Git repository holds the directory.
var ErrNoRepository = errors.New("not in a Git repository")

// UnsupportedError says that the repository uses a format that this package
// can't read, where it would otherwise have to guess.
type UnsupportedError struct {
	Path string // of the repository or file
	What string // such as "reftable"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s is not supported", e.Path, e.What)
}

// DamagedError says that a file of the repository is not what Git writes.
type DamagedError struct {
	Path string
	Why  string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Path, e.Why) }

// ObjectFormat is the hash that names a repository's objects.
type ObjectFormat string

// The formats that Git has.
const (
	SHA1   ObjectFormat = "sha1"
	SHA256 ObjectFormat = "sha256"
)

// Size is the length of an id in bytes.
func (f ObjectFormat) Size() int {
	if f == SHA256 {
		return 32
	}
	return 20
}

// ID names an object in either format. It is comparable; the zero ID names
// nothing.
type ID struct {
	size  uint8
	bytes [32]byte
}

// ParseID reads 40 or 64 hexadecimal digits.
func ParseID(s string) (ID, error) {
	raw, err := hex.DecodeString(s)
	if err != nil {
		return ID{}, fmt.Errorf("%q is not an object id", s)
	}
	return IDFromBytes(raw)
}

// IDFromBytes takes the 20 or 32 bytes of an id.
func IDFromBytes(raw []byte) (ID, error) {
	if len(raw) != 20 && len(raw) != 32 {
		return ID{}, fmt.Errorf("an object id of %d bytes", len(raw))
	}
	id := ID{size: uint8(len(raw))}
	copy(id.bytes[:], raw)
	return id, nil
}

// Bytes are the 20 or 32 bytes of the id, none for the zero ID.
func (id ID) Bytes() []byte { return append([]byte(nil), id.bytes[:id.size]...) }

// SHA1 are the bytes of an id of SHA-1.
func (id ID) SHA1() (raw [20]byte, ok bool) { return [20]byte(id.bytes[:20]), id.size == 20 }

// String is the id in hexadecimal, "" for the zero ID.
func (id ID) String() string { return hex.EncodeToString(id.bytes[:id.size]) }

// IsZero tells whether the id names nothing: the zero ID, or one of zeros
// only, which Git writes for "none".
func (id ID) IsZero() bool { return id.bytes == [32]byte{} }

// Mode is an entry's mode in a tree or an index.
type Mode uint32

// The modes that Git writes.
const (
	ModeDir        Mode = 0o040000
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeGitlink    Mode = 0o160000
)

func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// canonical maps the modes of old trees, such as 100664, to those of today.
func (m Mode) canonical() Mode {
	switch {
	case m&0o170000 == 0o100000 && m&0o100 != 0:
		return ModeExecutable
	case m&0o170000 == 0o100000:
		return ModeFile
	}
	return m & 0o170000
}
