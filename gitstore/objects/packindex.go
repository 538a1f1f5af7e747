package objects

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"sort"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Pack is a pack file with its version 2 index (gitformat-pack(5)). Immutable,
// but for what is known of the disk.
type Pack struct {
	Base   string
	info   fs.FileInfo
	Named  time.Time // when its name was made, or a later one of the user's: a linked pack is older than its name
	open   *fileCache
	Broken error
	// Durable: this process has synced its files and its names.
	Durable atomic.Bool

	fanout [256]uint32
	whole  []byte
}

const (
	idxHeader = 8
	idxFanout = idxHeader + 256*4
	// wholeIndex is the size up to which an index is held in memory; larger
	// ones are read in place, bucket by bucket. Not mapped: a file truncated
	// by somebody must be an error, not a fault that ends the process.
	wholeIndex = 1 << 20
	// bucketBytes bounds one read while searching an index on disk.
	bucketBytes = 16 << 10
	// nearby is how many names are read at first around the place where one
	// should be. Ids are spread evenly: among n they stray by some √n/2.
	nearby = 64
)

func openPack(base string, info fs.FileInfo, open *fileCache) (*Pack, error) {
	p := &Pack{Base: base, info: info, open: open, Named: info.ModTime()}
	var st unix.Stat_t
	if unix.Stat(base+".idx", &st) == nil {
		p.Named = time.Unix(st.Ctim.Unix())
	}
	open.forget(base + ".idx")
	open.forget(base + ".pack")
	if info.Size() <= wholeIndex {
		data, err := disk.ReadFile(base + ".idx")
		if err != nil {
			return nil, asDamage(err)
		}
		p.whole = data
	}
	head := make([]byte, idxFanout)
	if err := p.readIndex(head, 0); err != nil {
		return nil, err
	}
	if !bytes.Equal(head[:idxHeader], []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, gitstore.Damaged("pack index %s.idx is not of version 2", base)
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[idxHeader+4*i:])
		if i > 0 && p.fanout[i] < p.fanout[i-1] {
			return nil, gitstore.Damaged("pack index %s.idx has a broken fan-out", base)
		}
	}
	if size := info.Size(); size < idxFanout+int64(p.Count())*28+40 {
		return nil, gitstore.Damaged("pack index %s.idx is too short", base)
	}
	return p, nil
}

// Count is how many objects the pack holds.
func (p *Pack) Count() int { return int(p.fanout[255]) }

func (p *Pack) readIndex(buf []byte, at int64) error {
	if p.whole != nil {
		if at < 0 || at+int64(len(buf)) > int64(len(p.whole)) {
			return gitstore.Damaged("pack index %s.idx is too short", p.Base)
		}
		copy(buf, p.whole[at:])
		return nil
	}
	f, err := p.open.acquire(p.Base + ".idx")
	if err != nil {
		return err
	}
	defer p.open.release(f)
	if _, err := f.ReadAt(buf, at); err != nil {
		return gitstore.Damaged("read pack index %s.idx: %v", p.Base, err)
	}
	return nil
}

// Find returns the offset of id in the pack.
func (p *Pack) Find(id gitstore.ID) (int64, bool, error) {
	if p.Broken != nil {
		return 0, false, p.Broken
	}
	n, ok, err := p.search(id)
	if !ok || err != nil {
		return 0, false, err
	}
	off, err := p.Offset(n)
	return off, err == nil, err
}

// search returns the position of id in the index.
func (p *Pack) search(id gitstore.ID) (int, bool, error) {
	lo, hi := p.bucket(id[0])
	if n := hi - lo; p.whole == nil && n > 2*nearby {
		at := lo + int(uint64(n)*uint64(binary.BigEndian.Uint32(id[1:]))>>32) - nearby/2
		at = min(max(at, lo), hi-nearby)
		names, err := p.names(at, at+nearby)
		if err != nil {
			return 0, false, err
		}
		switch i, ok := position(names, id); {
		case ok || i > 0 && i < nearby:
			return at + i, ok, nil
		case i == 0:
			hi = at
		default:
			lo = at + nearby
		}
	}
	for hi-lo > bucketBytes/gitstore.IDSize {
		mid := int(uint(lo+hi) >> 1)
		at, err := p.Name(mid)
		if err != nil {
			return 0, false, err
		}
		switch c := at.Compare(id); {
		case c == 0:
			return mid, true, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	if lo == hi {
		return 0, false, nil
	}
	names, err := p.names(lo, hi)
	if err != nil {
		return 0, false, err
	}
	i, ok := position(names, id)
	return lo + i, ok, nil
}

// position is where among names, one after the other, an id is or would be.
func position(names []byte, id gitstore.ID) (int, bool) {
	n := len(names) / gitstore.IDSize
	i := sort.Search(n, func(i int) bool {
		return bytes.Compare(names[i*gitstore.IDSize:(i+1)*gitstore.IDSize], id[:]) >= 0
	})
	return i, i < n && gitstore.ID(names[i*gitstore.IDSize:(i+1)*gitstore.IDSize]) == id
}

func (p *Pack) bucket(first byte) (lo, hi int) {
	if first > 0 {
		lo = int(p.fanout[first-1])
	}
	return lo, int(p.fanout[first])
}

func (p *Pack) names(lo, hi int) ([]byte, error) {
	return p.slice(idxFanout+int64(lo)*gitstore.IDSize, (hi-lo)*gitstore.IDSize)
}

// smalls are the offsets of four bytes of some positions.
func (p *Pack) smalls(lo, hi int) ([]byte, error) {
	return p.slice(p.smallOffsets()+int64(lo)*4, (hi-lo)*4)
}

// slice is n bytes of the index, not to be changed.
func (p *Pack) slice(at int64, n int) ([]byte, error) {
	if p.whole != nil && at+int64(n) <= int64(len(p.whole)) {
		return p.whole[at : at+int64(n)], nil
	}
	buf := make([]byte, n)
	return buf, p.readIndex(buf, at)
}

// Name is the id of the object that comes at place i of the index.
func (p *Pack) Name(i int) (gitstore.ID, error) {
	b, err := p.names(i, i+1)
	if err != nil {
		return gitstore.ID{}, err
	}
	return gitstore.ID(b), nil
}

// Offset is where the object at place n of the index stands in the pack.
func (p *Pack) Offset(n int) (int64, error) {
	small, err := p.smalls(n, n+1)
	if err != nil {
		return 0, err
	}
	return p.largeOffset(binary.BigEndian.Uint32(small))
}

// smallOffsets is where in the index the offsets of four bytes begin.
func (p *Pack) smallOffsets() int64 { return idxFanout + int64(p.Count())*24 }

// largeOffset resolves an offset of four bytes, which from 2 GiB on is a place
// in the table of those of eight.
func (p *Pack) largeOffset(off uint32) (int64, error) {
	if off&(1<<31) == 0 {
		return int64(off), nil
	}
	var buf [8]byte
	if err := p.readIndex(buf[:], p.smallOffsets()+int64(p.Count())*4+int64(off&^(1<<31))*8); err != nil {
		return 0, err
	}
	large := binary.BigEndian.Uint64(buf[:])
	if large>>63 != 0 {
		return 0, gitstore.Damaged("pack index %s.idx has a broken offset", p.Base)
	}
	return int64(large), nil
}

// Kept tells of a pack that nobody repacks.
func (p *Pack) Kept() bool {
	_, err := os.Lstat(p.Base + KeepSuffix)
	return err == nil
}

// KeepSuffix marks a pack that nobody repacks.
const KeepSuffix = ".keep"
