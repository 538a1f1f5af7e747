package usergit

import (
	"errors"
	"fmt"
)

// indexFile is one index file, before a shared index is merged in.
type indexFile struct {
	entries []Entry
	sparse  bool
	link    *link
	trees   map[string]cachedTree
}

// unknownExtension is the signature of a mandatory extension.
type unknownExtension string

func (e unknownExtension) Error() string { return fmt.Sprintf("index extension %q", string(e)) }

// decodeIndex decodes an index without its checksum.
func decodeIndex(body []byte, format ObjectFormat) (*indexFile, error) {
	r := &reader{data: body}
	version, count, err := decodeHead(r, int64(len(body)), format)
	if err != nil {
		return nil, err
	}
	x := &indexFile{entries: make([]Entry, 0, count)}
	previous := ""
	for range count {
		e := decodeEntry(r, version, format, previous)
		if r.err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(x.entries), r.err)
		}
		previous = e.Path
		x.entries = append(x.entries, e)
	}
	for len(r.data) > 0 {
		if err := x.decodeExtension(r, format); err != nil {
			return nil, err
		}
	}
	for _, e := range x.entries {
		switch {
		case e.Path == "" && x.link == nil:
			return nil, errors.New("an entry without path")
		case e.Mode == ModeDir && !x.sparse:
			return nil, errors.New("a directory in an index that is not sparse")
		}
	}
	return x, nil
}

// indexHead is how long the head of an index is, in bytes.
const indexHead = 12

// decodeHead reads the head of an index of size bytes: its version, and how many entries
// there are, which is no more than fit.
func decodeHead(r *reader, size int64, format ObjectFormat) (version, count uint32, err error) {
	if string(r.bytes(4)) != "DIRC" {
		return 0, 0, errors.New("no index signature")
	}
	version, count = r.uint32(), r.uint32()
	fixed := int64(40 + format.Size() + 2) // of each entry, before its path
	switch {
	case r.err != nil:
		return 0, 0, r.err
	case version < 2 || version > 4:
		return 0, 0, fmt.Errorf("index version %d", version)
	case int64(count) > size/fixed:
		return 0, 0, fmt.Errorf("%d entries in %d bytes", count, size)
	}
	return version, count, nil
}

const (
	flagAssumeValid  = 0x8000
	flagExtended     = 0x4000
	flagStageShift   = 12
	flagSkipWorktree = 0x4000 // of the extended flags
	flagIntentToAdd  = 0x2000
)

func decodeEntry(r *reader, version uint32, format ObjectFormat, previous string) Entry {
	var e Entry
	before := len(r.data)
	e.Stat.CtimeSec, e.Stat.CtimeNsec = r.uint32(), r.uint32()
	e.Stat.MtimeSec, e.Stat.MtimeNsec = r.uint32(), r.uint32()
	e.Stat.Dev, e.Stat.Ino = r.uint32(), r.uint32()
	e.Mode = Mode(r.uint32())
	e.Stat.UID, e.Stat.GID, e.Stat.Size = r.uint32(), r.uint32(), r.uint32()
	e.ID = r.id(format)
	flags := r.uint16()
	e.Flags.AssumeValid = flags&flagAssumeValid != 0
	e.Stage = int(flags>>flagStageShift) & 3
	if flags&flagExtended != 0 {
		extended := r.uint16()
		if r.err == nil && (version < 3 || extended&^(flagSkipWorktree|flagIntentToAdd) != 0) {
			r.err = fmt.Errorf("flags %04x of index version %d", extended, version)
		}
		e.Flags.SkipWorktree = extended&flagSkipWorktree != 0
		e.Flags.IntentToAdd = extended&flagIntentToAdd != 0
	}
	if version == 4 {
		e.Path = decodePath(r, previous)
		return e
	}
	e.Path = string(r.until(0))
	// Up to eight NULs end the path, so that entries begin at multiples of 8.
	if used := before - len(r.data); used%8 != 0 {
		r.bytes(8 - used%8)
	}
	return e
}

// decodePath reads a path of version 4: how many bytes of the previous one to
// drop, and what to append.
func decodePath(r *reader, previous string) string {
	b := r.bytes(1)
	if b == nil {
		return ""
	}
	drop := uint64(b[0] & 0x7f)
	for b[0]&0x80 != 0 {
		if b = r.bytes(1); b == nil {
			return ""
		}
		drop = (drop+1)<<7 | uint64(b[0]&0x7f)
		if drop > uint64(len(previous)) {
			break
		}
	}
	if drop > uint64(len(previous)) {
		r.err = errors.New("drops more than the path before it")
		return ""
	}
	return previous[:len(previous)-int(drop)] + string(r.until(0))
}

// decodeExtension reads the extensions that matter and skips the others that
// may be skipped: those whose signature begins with a capital.
func (x *indexFile) decodeExtension(r *reader, format ObjectFormat) error {
	signature := string(r.bytes(4))
	data := r.bytes(int(r.uint32()))
	if r.err != nil {
		return fmt.Errorf("extension %q: %w", signature, r.err)
	}
	switch {
	case signature == "sdir":
		x.sparse = true
	case signature == "link":
		l, err := decodeLink(data, format)
		if err != nil {
			return fmt.Errorf("extension %q: %w", signature, err)
		}
		x.link = l
	case signature == "TREE":
		x.trees = decodeTrees(data, format)
	case signature[0] < 'A' || signature[0] > 'Z':
		return unknownExtension(signature)
	}
	return nil
}

// decodeTrees reads the cache tree: each directory, parents first, with the
// number of its entries, -1 if the tree is not known. As Git, it takes damage
// for knowing nothing.
func decodeTrees(data []byte, format ObjectFormat) map[string]cachedTree {
	r := &reader{data: data}
	trees := map[string]cachedTree{}
	type open struct {
		prefix string
		left   int // subdirectories to come
	}
	stack := []open{{left: 1}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.left == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		top.left--
		prefix := top.prefix + string(r.until(0))
		if len(stack) > 1 {
			prefix += "/"
		}
		count, ok1 := decimal(r.until(' '))
		children, ok2 := decimal(r.until('\n'))
		var id ID
		if count >= 0 {
			id = r.id(format)
		}
		if r.err != nil || !ok1 || !ok2 || children < 0 || len(stack) > maxTreeDepth {
			return nil
		}
		if count >= 0 {
			trees[prefix] = cachedTree{id: id, count: count}
		}
		stack = append(stack, open{prefix: prefix, left: children})
	}
	return trees
}

// maxTreeDepth is more directories than a path of 4,096 bytes can have.
const maxTreeDepth = 2048

// decimal reads a number of an index extension, at least -1.
func decimal(text []byte) (int, bool) {
	if string(text) == "-1" {
		return -1, true
	}
	n := 0
	for _, b := range text {
		if b < '0' || b > '9' || n > 1<<30 {
			return 0, false
		}
		n = 10*n + int(b-'0')
	}
	return n, len(text) > 0
}
