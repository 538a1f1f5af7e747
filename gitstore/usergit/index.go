package usergit

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Index is the user's index as it was at one moment. It is not changed after
// ReadIndex or Expand returns and is then safe for concurrent use.
type Index struct {
	// Entries are in Git's order: by path, bytewise, and then by stage.
	Entries []Entry
	// ModTime is when the index file was written; zero if there is none. An
	// entry whose mtime is not earlier may hide a later change ("racy").
	ModTime time.Time
	// Sparse says that some entries stand for whole directories, their mode
	// being ModeDir and their path ending in a slash. See Expand.
	Sparse bool

	trees  map[string]cachedTree // by directory: "" or "a/b/"
	device uint64                // of the index file
	split  bool
}

// Entry is one entry of an index.
type Entry struct {
	Path  string
	Mode  Mode
	ID    ID
	Stage int // 0, or in a conflict 1 (base), 2 (ours), 3 (theirs)
	Flags Flags
	Stat  Stat
}

// Flags are what a user or Git has noted on an entry.
type Flags struct {
	AssumeValid  bool // git update-index --assume-unchanged
	SkipWorktree bool // sparse checkout, or --skip-worktree
	IntentToAdd  bool // git add -N: the id is that of the empty blob
}

// Stat is what Git noted of the file when it last read it, each value cut to
// 32 bits. All are zero where Git knows nothing.
type Stat struct {
	CtimeSec, CtimeNsec uint32
	MtimeSec, MtimeNsec uint32
	Dev, Ino, UID, GID  uint32
	Size                uint32
}

// cachedTree is a tree that Git knows a directory of the index to be.
type cachedTree struct {
	id    ID
	count int // of entries below the directory
}

// Index reads the index of this work tree. Without an index file it is empty.
func (r *Repository) Index() (*Index, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return ReadIndex(filepath.Join(r.GitDir, "index"), r.Format)
}

// ReadIndex reads an index file of version 2, 3 or 4, with its shared index if
// it is split. The error for a mandatory extension that is not known is an
// UnsupportedError; a file that Git could not have written, or whose checksum
// is wrong, is a DamagedError.
func ReadIndex(path string, format ObjectFormat) (*Index, error) {
	data, info, err := readIndexFile(path, format)
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	x, _, err := decodeFile(path, data, format)
	if err != nil {
		return nil, err
	}
	if x.link != nil && !x.link.base.IsZero() {
		if err := x.merge(filepath.Join(filepath.Dir(path), "sharedindex."+x.link.base.String()), format); err != nil {
			return nil, err
		}
	}
	if why := disorder(x.entries); why != "" {
		return nil, &DamagedError{Path: path, Why: why}
	}
	device, _, _ := deviceAndInode(info)
	return &Index{
		Entries: x.entries, ModTime: info.ModTime(), Sparse: x.sparse,
		trees: x.trees, device: device, split: x.link != nil && !x.link.base.IsZero(),
	}, nil
}

// readIndexFile reads an index file, and what that same file is. What can be no index by
// its beginning and its length is not read: it would fill the memory at each snapshot.
func readIndexFile(path string, format ObjectFormat) ([]byte, os.FileInfo, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > maxFile {
		return nil, nil, tooLong(path, maxFile)
	}
	head := make([]byte, min(info.Size(), indexHead))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, nil, err
	}
	if _, _, err := decodeHead(&reader{data: head}, info.Size(), format); err != nil {
		return nil, nil, &DamagedError{Path: path, Why: err.Error()}
	}
	data := make([]byte, info.Size())
	copy(data, head)
	_, err = io.ReadFull(f, data[len(head):])
	return data, info, err
}

// decodeFile checks the checksum, which it returns too, and decodes the rest.
func decodeFile(path string, data []byte, format ObjectFormat) (*indexFile, ID, error) {
	size := format.Size()
	if len(data) < 12+size {
		return nil, ID{}, &DamagedError{Path: path, Why: "too short"}
	}
	body, sum := data[:len(data)-size], data[len(data)-size:]
	var have []byte
	if format == SHA256 {
		s := sha256.Sum256(body)
		have = s[:]
	} else {
		s := sha1.Sum(body)
		have = s[:]
	}
	// With index.skipHash Git writes zeros for the checksum.
	if !bytes.Equal(have, sum) && len(bytes.Trim(sum, "\x00")) > 0 {
		return nil, ID{}, &DamagedError{Path: path, Why: "wrong checksum"}
	}
	x, err := decodeIndex(body, format)
	var unknown unknownExtension
	switch {
	case errors.As(err, &unknown):
		return nil, ID{}, &UnsupportedError{Path: path, What: err.Error()}
	case err != nil:
		return nil, ID{}, &DamagedError{Path: path, Why: err.Error()}
	}
	id, err := IDFromBytes(sum)
	return x, id, err
}

// disorder says what is wrong with the order of the entries.
func disorder(entries []Entry) string {
	for i := 1; i < len(entries); i++ {
		if compareEntries(entries[i-1], entries[i]) >= 0 {
			return "entries out of order at " + entries[i].Path
		}
	}
	return ""
}

func compareEntries(a, b Entry) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return cmp.Compare(a.Stage, b.Stage)
}

// Lookup gives the entries of a path: none if it is not tracked, several in a
// conflict.
func (x *Index) Lookup(path string) []Entry {
	from := x.search(path)
	to := from
	for to < len(x.Entries) && x.Entries[to].Path == path {
		to++
	}
	return x.Entries[from:to]
}

// Tracks tells whether the user's repository tracks the path: it is in the
// index at any stage, intent-to-add included. What a sparse directory entry
// stands for is known after Expand only.
func (x *Index) Tracks(path string) bool {
	i := x.search(path)
	return i < len(x.Entries) && x.Entries[i].Path == path
}

// TracksBelow tells whether any path strictly below the directory is tracked,
// so that a walk must enter it although it is ignored.
func (x *Index) TracksBelow(dir string) bool {
	prefix := dir + "/"
	i := x.search(prefix)
	return i < len(x.Entries) && strings.HasPrefix(x.Entries[i].Path, prefix)
}

// search is the position of the first entry whose path is not less.
func (x *Index) search(path string) int {
	i, _ := slices.BinarySearchFunc(x.Entries, path, func(e Entry, path string) int {
		return strings.Compare(e.Path, path)
	})
	return i
}

// Expand is the index with each sparse directory replaced by the files of its
// tree, which are marked SkipWorktree. An index that is not sparse is returned
// as it is.
func (x *Index) Expand(objects Objects) (*Index, error) {
	if !x.Sparse {
		return x, nil
	}
	full := &Index{ModTime: x.ModTime, trees: map[string]cachedTree{}}
	for _, e := range x.Entries {
		if e.Mode != ModeDir {
			full.Entries = append(full.Entries, e)
			continue
		}
		below, err := expand(objects, e)
		if err != nil {
			return nil, err
		}
		full.Entries = append(full.Entries, below...)
	}
	slices.SortFunc(full.Entries, compareEntries)
	return full, nil
}

// expand lists the files of a sparse directory entry.
func expand(objects Objects, dir Entry) ([]Entry, error) {
	var found []Entry
	err := walkTree(objects, dir.Path, dir.ID, func(path string, e TreeEntry) {
		found = append(found, Entry{Path: path, Mode: e.Mode.canonical(), ID: e.ID, Flags: Flags{SkipWorktree: true}})
	})
	slices.SortFunc(found, compareEntries)
	return found, err
}

// reader takes an index apart; after the first error all it gives is zero.
type reader struct {
	data []byte
	err  error
}

var errShort = errors.New("ends too early")

func (r *reader) bytes(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.data)) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// until gives what comes before the byte end, and skips that too.
func (r *reader) until(end byte) []byte {
	i := bytes.IndexByte(r.data, end)
	if i < 0 && r.err == nil {
		r.err = errShort
	}
	taken := r.bytes(i)
	r.bytes(1)
	return taken
}

func (r *reader) id(format ObjectFormat) ID {
	id, err := IDFromBytes(r.bytes(format.Size()))
	if err != nil {
		return ID{}
	}
	return id
}
