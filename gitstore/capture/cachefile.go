package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// The cache file of a workspace:
//
//	magic, generation, device and inode of the root, the root's directory,
//	SHA-256 of all that
//
// Numbers are varints; a directory is its device, tree, number of entries and
// the entries, each with what its kind has, subdirectories in place. It is
// written for this machine alone and is worth no more than a walk: whatever is
// wrong with it, it is dropped.
const (
	cacheFamily = "umbra statcache "
	cacheMagic  = cacheFamily + "2\n"
)

// errBadCache is wrapped by the reason why a cache file was dropped.
var errBadCache = errors.New("stat cache dropped")

// OpenScanner makes a Scanner that begins with what an earlier one saved in
// file, so that its first capture is a walk that reads only what changed.
// Generation is the project's prune generation: if the file carries another,
// its ids are suspect. The Scanner can be used in any case; the error says why
// it knows nothing, and is nil where the file does not exist.
func OpenScanner(w Workspace, file string, generation uint64) (*Scanner, error) {
	s := NewScanner(w)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	d := &decoder{}
	saved, err := d.open(data)
	if err != nil {
		return s, fmt.Errorf("%s: %w: %w", file, errBadCache, err)
	}
	device, inode := d.number(), d.number()
	if (beneath.Identity{Device: device, Inode: inode}) != w.Identity {
		return s, fmt.Errorf("%s: %w: it is of another directory", file, errBadCache)
	}
	base := d.directory(0)
	if d.err != nil || len(d.rest) > 0 {
		return s, fmt.Errorf("%s: %w: it does not decode", file, errBadCache)
	}
	s.base = base
	if saved != generation {
		s.Suspect()
	}
	return s, nil
}

// Save gives the state of the capture accepted last to write, which stores it
// in the file for OpenScanner. It does nothing before the first Accept.
func (s *Scanner) Save(generation uint64, write func(data []byte) error) error {
	if s.base == nil || s.suspect {
		return nil
	}
	out := []byte(cacheMagic)
	out = binary.AppendUvarint(out, generation)
	out = binary.AppendUvarint(out, s.workspace.Identity.Device)
	out = binary.AppendUvarint(out, s.workspace.Identity.Inode)
	out = appendDirectory(out, s.base)
	sum := sha256.Sum256(out)
	return write(append(out, sum[:]...))
}

func appendDirectory(out []byte, n *node) []byte {
	out = binary.AppendUvarint(out, n.device)
	out = append(out, n.tree[:]...)
	out = binary.AppendUvarint(out, uint64(len(n.entries)))
	for i := range n.entries {
		e := &n.entries[i]
		out = binary.AppendUvarint(out, uint64(len(e.name)))
		out = append(out, e.name...)
		out = append(out, byte(e.kind), e.reason)
		out = binary.AppendUvarint(out, uint64(e.flags))
		out = binary.AppendVarint(out, e.stat.size)
		out = binary.AppendVarint(out, e.stat.mtime)
		out = binary.AppendVarint(out, e.stat.ctime)
		out = binary.AppendUvarint(out, e.stat.inode)
		out = binary.AppendUvarint(out, uint64(e.stat.mode))
		switch e.kind {
		case kindDirectory:
			out = appendDirectory(out, e.dir)
		case kindSkipped:
		default:
			out = append(out, e.id[:]...)
		}
	}
	return out
}

// decoder reads a cache file. After the first error it gives zeros.
type decoder struct {
	rest []byte
	err  error
}

var errShort = errors.New("short")

// maxDepth bounds the recursion over a file that lies.
const maxDepth = 1 << 16

func (d *decoder) open(data []byte) (generation uint64, err error) {
	body, ok := bytes.CutPrefix(data, []byte(cacheMagic))
	if !ok || len(body) < sha256.Size {
		return 0, errors.New("of another version")
	}
	body = body[:len(body)-sha256.Size]
	sum := sha256.Sum256(data[:len(data)-sha256.Size])
	if !bytes.Equal(sum[:], data[len(data)-sha256.Size:]) {
		return 0, errors.New("wrong checksum")
	}
	d.rest = body
	return d.number(), d.err
}

func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.rest)) {
		d.err = errShort
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.err = errShort
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.err = errShort
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) name() string {
	return string(d.take(d.number()))
}

func (d *decoder) id() (id gitstore.ID) {
	copy(id[:], d.take(gitstore.IDSize))
	return id
}

func (d *decoder) directory(depth int) *node {
	n := &node{device: d.number(), tree: d.id(), sealed: true}
	count := d.number()
	const least = 9 // bytes of an entry
	if d.err != nil || depth > maxDepth || count > uint64(len(d.rest)/least) {
		d.err = errShort
		return n
	}
	n.entries = make([]entry, count)
	for i := range n.entries {
		e := &n.entries[i]
		e.name = d.name()
		if head := d.take(2); d.err == nil {
			e.kind, e.reason = kind(head[0]), min(head[1], reasonCount-1)
		}
		e.flags = flags(d.number())
		e.stat = fingerprint{size: d.signed(), mtime: d.signed(), ctime: d.signed(), inode: d.number(), mode: uint32(d.number())}
		switch e.kind {
		case kindDirectory:
			e.dir = d.directory(depth + 1)
		case kindSkipped:
		case kindFile, kindExecutable, kindSymlink:
			e.id = d.id()
		default:
			d.err = errShort
		}
		if d.err != nil || i > 0 && n.entries[i-1].name >= e.name {
			d.err = errShort
			return n
		}
		n.sum.addEntry(e)
	}
	return n
}
