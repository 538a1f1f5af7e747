package objects

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // the pack format's checksum
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// A PackWriter writes one pack without deltas to a temporary file, and its index
// of version 2 (gitformat-pack(5)). Not safe for concurrent use.
type PackWriter struct {
	dir     string
	sync    *durable.Syncer
	file    *os.File
	out     *bufio.Writer
	offset  int64
	entries []packEntry
	Base    string // its path without extension, once it is named
}

type packEntry struct {
	id     gitstore.ID
	crc    uint32
	offset int64
}

const packHeader = 12

// NewPack begins a pack in a file of dir named tmp_umbra_pack_*, flocked as long as its owner
// lives so that Sweep leaves it alone. What a killed process left of another
// goes first: it may be as large as the workspace, and there need be no daemon
// that sweeps (H24).
func NewPack(dir string, sync *durable.Syncer) (*PackWriter, error) {
	sweepPacks(dir)
	f, err := flock.CreateTemp(dir, "tmp_umbra_pack_*")
	if err != nil {
		return nil, err
	}
	failpoint.Hit("pack.begun")
	p := &PackWriter{dir: dir, sync: sync, file: f, out: bufio.NewWriterSize(f, 256<<10), offset: packHeader}
	if _, err := p.out.Write(make([]byte, packHeader)); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// sweepPacks removes packs and indexes of ours that were never finished. What
// can't be removed is left to Sweep, which says why: no snapshot is to fail for
// it.
func sweepPacks(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "tmp_umbra_") {
			path := filepath.Join(dir, e.Name())
			_ = Leftover(path, time.Now(), func(string, int64) error { return os.Remove(path) })
		}
	}
}

func entryHeader(t gitstore.ObjectType, size int64) []byte {
	head := []byte{byte(t)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	return head
}

// Add writes an object whose compressed content is given.
func (p *PackWriter) Add(t gitstore.ObjectType, id gitstore.ID, size int64, deflated io.WriterTo) error {
	w := &crcWriter{w: p.out}
	if _, err := w.Write(entryHeader(t, size)); err != nil {
		return err
	}
	if _, err := deflated.WriteTo(w); err != nil {
		return err
	}
	p.entries = append(p.entries, packEntry{id: id, crc: w.crc, offset: p.offset})
	p.offset += w.n
	return nil
}

// crcWriter counts and sums what passes into a pack.
type crcWriter struct {
	w   io.Writer
	crc uint32
	n   int64
}

func (c *crcWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, b[:n])
	c.n += int64(n)
	return n, err
}

// Finish completes the pack, makes it and its index durable and gives them their
// names, the index last since readers look for it.
func (p *PackWriter) Finish() error {
	if len(p.entries) == 0 {
		p.Discard()
		return nil
	}
	sum, err := p.seal()
	if err != nil {
		return err
	}
	idx, err := flock.CreateTemp(p.dir, "tmp_umbra_idx_*")
	if err != nil {
		return err
	}
	defer flock.DropTemp(idx)
	if _, err := idx.Write(p.index(sum)); err != nil {
		return err
	}
	if err := idx.Chmod(0o444); err != nil {
		return err
	}
	if err := p.sync.File(idx); err != nil {
		return err
	}
	base := filepath.Join(p.dir, "pack-"+hex.EncodeToString(sum))
	p.Base = base
	failpoint.Hit("pack.written")
	if err := os.Rename(p.file.Name(), base+".pack"); err != nil {
		return err
	}
	failpoint.Hit("pack.named")
	if err := os.Rename(idx.Name(), base+".idx"); err != nil {
		return err
	}
	failpoint.Hit("pack.indexed")
	if err := flock.Release(p.file); err != nil {
		return err
	}
	return p.sync.Dir(p.dir)
}

// seal writes the count and the checksum, which covers the count and so needs
// the file read once more.
func (p *PackWriter) seal() ([]byte, error) {
	if err := p.out.Flush(); err != nil {
		return nil, err
	}
	head := append([]byte("PACK"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.entries)))
	if _, err := p.file.WriteAt(head, 0); err != nil {
		return nil, err
	}
	h := sha1.New() //nolint:gosec // see the import
	if _, err := io.CopyBuffer(h, io.NewSectionReader(p.file, 0, p.offset), make([]byte, 256<<10)); err != nil {
		return nil, err
	}
	sum := h.Sum(nil)
	if _, err := p.file.WriteAt(sum, p.offset); err != nil {
		return nil, err
	}
	if err := p.file.Chmod(0o444); err != nil {
		return nil, err
	}
	return sum, p.sync.File(p.file)
}

// index gives the pack's index of version 2.
func (p *PackWriter) index(packSum []byte) []byte {
	slices.SortFunc(p.entries, func(a, b packEntry) int { return a.id.Compare(b.id) })
	out := make([]byte, 0, idxFanout+len(p.entries)*28+40)
	out = append(out, "\xfftOc\x00\x00\x00\x02"...)
	n := 0
	for first := range 256 {
		for n < len(p.entries) && int(p.entries[n].id[0]) == first {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, e := range p.entries {
		out = append(out, e.id[:]...)
	}
	for _, e := range p.entries {
		out = binary.BigEndian.AppendUint32(out, e.crc)
	}
	var large []byte
	for _, e := range p.entries {
		off := uint32(e.offset)
		if e.offset >= 1<<31 {
			off = 1<<31 | uint32(len(large)/8)
			large = binary.BigEndian.AppendUint64(large, uint64(e.offset))
		}
		out = binary.BigEndian.AppendUint32(out, off)
	}
	out = append(out, large...)
	out = append(out, packSum...)
	sum := sha1.Sum(out) //nolint:gosec // see the import
	return append(out, sum[:]...)
}

// Discard removes the temporary file.
func (p *PackWriter) Discard() { flock.DropTemp(p.file) }

// foreignTempAge is how old a temporary file of another program, which holds no
// flock, must be to count as left behind.
const foreignTempAge = time.Hour

// Leftover calls fn for a temporary file whose writer is gone, and holds its flock meanwhile.
func Leftover(path string, now time.Time, fn func(path string, size int64) error) error {
	f, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
	if flock.IsHeld(err) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = flock.Release(f) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	ours := strings.HasPrefix(name, "tmp_umbra_") || strings.HasPrefix(name, "pack-") && filepath.Ext(name) == ".pack"
	if !fi.Mode().IsRegular() || !ours && now.Sub(fi.ModTime()) < foreignTempAge {
		return nil
	}
	return fn(path, fi.Size())
}
