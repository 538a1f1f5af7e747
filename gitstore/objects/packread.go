package objects

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/umbra-vcs/umbra/gitstore"
)

// maxDeltaChain is above Git's own limit (4,095); a longer one is a cycle.
const maxDeltaChain = 5000

// packed is one object as it stands in a pack.
type packed struct {
	kind gitstore.ObjectType
	size int64
	// base is the offset of an offset delta's base, baseID that of a
	// reference delta.
	base   int64
	baseID gitstore.ID
	// data is the offset of the deflated bytes.
	data int64
}

// Read returns an object, its deltas applied.
func (p *Pack) Read(o *Reader, off int64) (gitstore.ObjectType, []byte, error) {
	f, err := p.open.acquire(p.Base + ".pack")
	if err != nil {
		return 0, nil, err
	}
	defer p.open.release(f)
	var deltas [][]byte
	for len(deltas) <= maxDeltaChain {
		h, err := p.header(f, off)
		if err != nil {
			return 0, nil, err
		}
		data, err := p.inflate(o, f, h)
		if err != nil {
			return 0, nil, err
		}
		if h.kind <= gitstore.TypeTag {
			data, err = patch(data, deltas)
			return h.kind, data, err
		}
		deltas = append(deltas, data)
		if h.kind == gitstore.TypeOfsDelta {
			off = h.base
			continue
		}
		next, ok, err := p.Find(h.baseID)
		if err != nil {
			return 0, nil, err
		}
		if !ok {
			return p.readForeignBase(o, h.baseID, deltas)
		}
		off = next
	}
	return 0, nil, gitstore.Damaged("delta chain in %s.pack has no end", p.Base)
}

// readForeignBase completes a delta whose base is outside its pack, which Git
// itself never leaves on disk but tolerates.
func (p *Pack) readForeignBase(o *Reader, base gitstore.ID, deltas [][]byte) (gitstore.ObjectType, []byte, error) {
	for _, d := range o.Dirs() {
		other, off, ok, err := d.find(base)
		if err != nil || ok && other == p {
			continue
		}
		if !ok {
			if t, data, err := o.ReadLoose(d.LoosePath(base)); err == nil {
				data, err = patch(data, deltas)
				return t, data, err
			}
			continue
		}
		t, data, err := other.Read(o, off)
		if err == nil {
			data, err = patch(data, deltas)
		}
		return t, data, err
	}
	return 0, nil, gitstore.Damaged("delta base %s is missing", base)
}

func patch(data []byte, deltas [][]byte) ([]byte, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		out, err := packfile.PatchDelta(data, deltas[i])
		if err != nil {
			return nil, gitstore.Damaged("apply delta: %v", err)
		}
		data = out
	}
	return data, nil
}

// header decodes the header of the object at off.
func (p *Pack) header(f *cachedFile, off int64) (packed, error) {
	var buf [32]byte
	n, err := f.ReadAt(buf[:], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return packed{}, fmt.Errorf("read %s.pack: %w", p.Base, err)
	}
	bad := func() (packed, error) { return packed{}, gitstore.Damaged("header at %d of %s.pack", off, p.Base) }
	at := 0
	next := func() (byte, bool) {
		if at >= n {
			return 0, false
		}
		at++
		return buf[at-1], true
	}
	c, ok := next()
	h := packed{kind: gitstore.ObjectType(c >> 4 & 7), size: int64(c & 15)}
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, ok = next(); !ok || shift > 55 {
			return bad()
		}
		h.size |= int64(c&0x7f) << shift
	}
	switch h.kind {
	case gitstore.TypeCommit, gitstore.TypeTree, gitstore.TypeBlob, gitstore.TypeTag:
	case gitstore.TypeOfsDelta:
		back := int64(0)
		for first := true; first || c&0x80 != 0; first = false {
			if c, ok = next(); !ok || back > 1<<54 {
				return bad()
			}
			if !first {
				back++
			}
			back = back<<7 | int64(c&0x7f)
		}
		h.base = off - back
		if back == 0 || h.base < 12 {
			return bad()
		}
	case gitstore.TypeRefDelta:
		if n-at < gitstore.IDSize {
			return bad()
		}
		copy(h.baseID[:], buf[at:])
		at += gitstore.IDSize
	default:
		return bad()
	}
	if !ok || h.size > maxInflated(f.size) {
		return bad()
	}
	h.data = off + int64(at)
	return h, nil
}

// maxInflated bounds the size that deflated bytes can have, so that a broken
// header never makes an absurd allocation.
func maxInflated(deflated int64) int64 { return deflated*1032 + 1024 }

func (p *Pack) inflate(o *Reader, f *cachedFile, h packed) ([]byte, error) {
	src := bufio.NewReaderSize(io.NewSectionReader(f, h.data, f.size-h.data), inputBuffer(h.size))
	z, err := o.inflaters.get(src)
	if err != nil {
		return nil, gitstore.Damaged("inflate from %s.pack: %v", p.Base, err)
	}
	defer o.inflaters.put(z)
	data := make([]byte, h.size)
	if _, err := io.ReadFull(z, data); err != nil {
		return nil, gitstore.Damaged("inflate from %s.pack: %v", p.Base, err)
	}
	// The end is read too, for the checksum that zlib keeps there.
	var extra [1]byte
	if n, err := z.Read(extra[:]); n != 0 || err != io.EOF {
		return nil, gitstore.Damaged("object in %s.pack is longer than it says", p.Base)
	}
	return data, nil
}

func inputBuffer(size int64) int {
	return int(min(max(size/2, 512), 32<<10))
}

// packedType follows deltas to the type of the object at off.
func (p *Pack) packedType(off int64) (gitstore.ObjectType, error) {
	f, err := p.open.acquire(p.Base + ".pack")
	if err != nil {
		return 0, err
	}
	defer p.open.release(f)
	for range maxDeltaChain {
		h, err := p.header(f, off)
		if err != nil {
			return 0, err
		}
		switch h.kind {
		case gitstore.TypeOfsDelta:
			off = h.base
		case gitstore.TypeRefDelta:
			next, ok, err := p.Find(h.baseID)
			if err != nil {
				return 0, err
			}
			if !ok {
				return 0, fs.ErrNotExist
			}
			off = next
		default:
			return h.kind, nil
		}
	}
	return 0, gitstore.Damaged("delta chain in %s.pack has no end", p.Base)
}
