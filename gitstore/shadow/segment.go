package shadow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

// segment is a file to which loose objects are appended, and synced once for all
// of them, before they are written in their own places unsynced. After an
// unclean end of the machine Open writes again what is missing of them. So a
// small snapshot costs one fdatasync for its objects, whatever their number.
//
// The file's name begins with the id of the boot it was written in; its owner
// holds its flock. An abandoned segment of the same boot is appended to by the
// next process, and Sweep removes it once its objects are durable themselves.
type segment struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// segmentLog is the segments of a repository, of which one is this process's.
type segmentLog struct {
	*objects.Reader // those that are in their own places

	dir, area string // the repository, and where objects are put, as in Store
	sync      *durable.Syncer

	mu      sync.Mutex
	closed  bool
	segment *segment
}

// close gives up the segment of this process, and begins no other.
func (s *segmentLog) close() error {
	s.mu.Lock()
	s.closed = true
	seg := s.segment
	s.segment = nil
	s.mu.Unlock()
	if seg == nil {
		return nil
	}
	return seg.close()
}

const (
	segmentSuffix = ".seg"
	// adoptSize is the size up to which an abandoned segment is read and
	// continued; above segmentSize a new one is begun.
	adoptSize   = 1 << 20
	segmentSize = 8 << 20
	// noBoot stands for an unknown boot in a segment's name: such a segment is
	// always replayed.
	noBoot = "unknown"
)

func segmentMagic() []byte { return []byte("umbra segment 1\n") }

const frameHeader = 4 + gitstore.IDSize + 4

// frame wraps the bytes of a loose object file: length, id, CRC-32C of id and
// bytes, bytes.
func appendFrame(out []byte, id gitstore.ID, raw []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(raw)))
	out = append(out, id[:]...)
	out = binary.BigEndian.AppendUint32(out, frameSum(id, raw))
	return append(out, raw...)
}

func frameSum(id gitstore.ID, raw []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(id[:], table), table, raw)
}

// readSegment calls fn for each whole frame and returns the offset after the
// last; a torn end is not an error.
func readSegment(r io.Reader, fn func(id gitstore.ID, raw []byte) error) (int64, error) {
	magic := segmentMagic()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || !bytes.Equal(head, magic) {
		return 0, ignoreEnd(err)
	}
	at := int64(len(magic))
	var h [frameHeader]byte
	for {
		if _, err := io.ReadFull(r, h[:]); err != nil {
			return at, ignoreEnd(err)
		}
		n := int64(binary.BigEndian.Uint32(h[:]))
		raw, err := io.ReadAll(io.LimitReader(r, n))
		if err != nil {
			return at, err
		}
		id := gitstore.ID(h[4 : 4+gitstore.IDSize])
		if int64(len(raw)) < n || frameSum(id, raw) != binary.BigEndian.Uint32(h[4+gitstore.IDSize:]) {
			return at, nil
		}
		if err := fn(id, raw); err != nil {
			return at, err
		}
		at += frameHeader + n
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func segmentBoot() string {
	if id := durable.BootID(); id != "" {
		return id
	}
	return noBoot
}

// writeLoose stores objects as loose ones, durable by way of a segment; in a scratch
// nothing is to be durable.
func (s *segmentLog) writeLoose(pending []pendingObject) error {
	size := 0
	raws := make([][]byte, len(pending))
	for i, o := range pending {
		raw, err := objects.Deflate(gitstore.ObjectHeader(o.kind, int64(len(o.data))), o.data)
		if err != nil {
			return err
		}
		raws[i] = raw
		size += frameHeader + len(raw)
	}
	frames := make([]byte, 0, size)
	for i, o := range pending {
		frames = appendFrame(frames, o.id, raws[i])
	}
	if s.area == s.dir {
		seg, err := s.acquireSegment()
		if err != nil {
			return err
		}
		defer seg.mu.Unlock()
		if err := seg.append(s.sync, frames); err != nil {
			return errors.Join(err, s.dropSegment(seg))
		}
		failpoint.Hit("segment.appended")
	}
	for i, o := range pending {
		if err := s.placeLoose(o.id, raws[i]); err != nil {
			return err
		}
	}
	return nil
}

// placeLoose writes one loose object file, not synced.
func (s *segmentLog) placeLoose(id gitstore.ID, raw []byte) error {
	hex := id.String()
	dir := filepath.Join(s.area, "objects", hex[:2])
	err := placeIn(dir, hex[2:], raw)
	for tries := 0; tries < 3 && errors.Is(err, fs.ErrNotExist); tries++ {
		// The first object of its directory; or a sweep met the file before it was
		// claimed.
		if err := disk.MakeDirs(s.area, dir); err != nil {
			return err
		}
		err = placeIn(dir, hex[2:], raw)
	}
	return err
}

// placeIn gives a file its content before its name, with as few system calls as
// there can be: a snapshot places some ten. The error wraps fs.ErrNotExist if
// there is no such directory, or the file was swept away.
func placeIn(dir, name string, raw []byte) (err error) {
	temp := flock.TempName(dir, "tmp_umbra_obj_*")
	f, err := disk.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			flock.DropTemp(f)
			return
		}
		err = flock.Release(f)
	}()
	switch err := flock.Take(f, unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
	case unix.EWOULDBLOCK:
		return fmt.Errorf("place an object: %w", fs.ErrNotExist)
	default:
		return err
	}
	if _, err := f.Write(raw); err != nil {
		return err
	}
	failpoint.Hit("loose.written")
	if err := unix.Rename(temp, filepath.Join(dir, name)); err != nil {
		return &os.LinkError{Op: "rename", Old: temp, New: name, Err: err}
	}
	failpoint.Hit("loose.named")
	return nil
}

func (g *segment) append(sync *durable.Syncer, frames []byte) error {
	if _, err := g.file.WriteAt(frames, g.size); err != nil {
		return err
	}
	if err := sync.Data(g.file); err != nil {
		return err
	}
	g.size += int64(len(frames))
	return nil
}

func (g *segment) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return flock.Release(g.file)
}

// acquireSegment returns the Store's segment, locked.
func (s *segmentLog) acquireSegment() (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, gitstore.ErrClosed
	}
	if old := s.segment; old != nil {
		old.mu.Lock()
		if is, _ := disk.IsAt(old.file.Name(), old.file); is && old.size < segmentSize {
			return old, nil
		}
		s.segment = nil
		_ = flock.Release(old.file)
		old.mu.Unlock()
	}
	seg, err := s.adoptSegment()
	if err == nil && seg == nil {
		seg, err = s.newSegment()
	}
	if err != nil {
		return nil, fmt.Errorf("open a segment: %w", err)
	}
	seg.mu.Lock()
	s.segment = seg
	return seg, nil
}

// dropSegment gives up a segment whose last append failed: what stands after
// its last whole frame is cut off, or else passed over by its checksum.
func (s *segmentLog) dropSegment(seg *segment) error {
	err := seg.file.Truncate(seg.size)
	s.mu.Lock()
	if s.segment == seg {
		s.segment = nil
	}
	s.mu.Unlock()
	return errors.Join(err, flock.Release(seg.file))
}

func (s *segmentLog) newSegment() (*segment, error) {
	dir := filepath.Join(s.dir, segmentDir)
	f, err := flock.CreateTemp(dir, segmentBoot()+".*"+segmentSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.sync.MakeDirs(s.dir, dir); err != nil {
			return nil, err
		}
		f, err = flock.CreateTemp(dir, segmentBoot()+".*"+segmentSuffix)
	}
	if err != nil {
		return nil, err
	}
	failpoint.Hit("segment.made")
	magic := segmentMagic()
	if _, err := f.Write(magic); err != nil {
		flock.DropTemp(f)
		return nil, err
	}
	if err := s.sync.Dir(dir); err != nil {
		flock.DropTemp(f)
		return nil, err
	}
	return &segment{file: f, size: int64(len(magic))}, nil
}

// adoptSegment takes over an abandoned segment of this boot, or gives nil.
func (s *segmentLog) adoptSegment() (*segment, error) {
	boot := segmentBoot()
	for _, path := range s.list() {
		if boot == noBoot || !strings.HasPrefix(filepath.Base(path), boot+".") {
			continue
		}
		f, err := LockSegment(path)
		if f == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if fi, err := f.Stat(); err == nil && fi.Size() > int64(len(segmentMagic())) && fi.Size() < adoptSize {
			end, err := readSegment(f, s.placeAgain)
			if err == nil && end > 0 && f.Truncate(end) == nil {
				failpoint.Hit("segment.adopted")
				return &segment{file: f, size: end}, nil
			}
		}
		_ = flock.Release(f)
	}
	return nil, nil
}

// placeAgain writes a segment's object unless its file looks right. Loose objects
// that were not synced are lost without a new boot where a disk was pulled out.
func (s *segmentLog) placeAgain(id gitstore.ID, raw []byte) error {
	fi, err := os.Lstat(s.Own().LoosePath(id))
	if err == nil && fi.Size() == int64(len(raw)) {
		return nil
	}
	if _, _, err := s.Object(id); err == nil {
		return nil
	}
	return s.placeLoose(id, raw)
}

// list gives the segment files; a directory that is not there has none.
func (s *segmentLog) list() []string {
	dir := filepath.Join(s.dir, segmentDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// LockSegment opens a segment whose owner is gone; nil if there is one, or the
// file has gone.
func LockSegment(path string) (*os.File, error) {
	f, err := flock.Hold(path, os.O_RDWR, unix.LOCK_EX)
	if errors.Is(err, fs.ErrNotExist) || flock.IsHeld(err) && errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return f, err
}
