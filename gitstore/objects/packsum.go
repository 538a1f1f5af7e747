package objects

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the pack format's checksum
	"encoding/hex"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Verify reads the whole pack and its index, and compares each with its
// checksum, and the pack's with the index's note of it; it returns what the pack
// takes on disk.
func (p *Pack) Verify(ctx context.Context) (int64, error) {
	if err := p.VerifyIndex(ctx); err != nil {
		return 0, err
	}
	info, sum, err := TrailerOf(ctx, p.Base+".pack")
	if err != nil {
		return 0, err
	}
	var noted [gitstore.IDSize]byte
	if err := p.readIndex(noted[:], p.info.Size()-2*gitstore.IDSize); err != nil {
		return 0, err
	}
	if noted != sum {
		return 0, gitstore.Damaged("%s.pack has the checksum %s, its index says %s",
			filepath.Base(p.Base), hex.EncodeToString(sum[:]), hex.EncodeToString(noted[:]))
	}
	return OnDisk(info), nil
}

// VerifyIndex compares the index with its checksum: what it says of where the
// objects are is as it was written.
func (p *Pack) VerifyIndex(ctx context.Context) error {
	if p.Broken != nil {
		return p.Broken
	}
	_, _, err := TrailerOf(ctx, p.Base+".idx")
	return err
}

// TrailerOf gives the checksum that a file ends with, after it was compared with
// all that comes before.
func TrailerOf(ctx context.Context, path string) (info fs.FileInfo, trailer [gitstore.IDSize]byte, err error) {
	f, info, err := OpenFile(path)
	if err != nil {
		return nil, trailer, err
	}
	defer f.Close()
	size := info.Size()
	if size < packHeader+gitstore.IDSize {
		return nil, trailer, gitstore.Damaged("%s is too short", filepath.Base(path))
	}
	h := sha1.New() //nolint:gosec // see the import
	in := &stoppable{ctx: ctx, r: io.NewSectionReader(f, 0, size-gitstore.IDSize)}
	if _, err := io.CopyBuffer(h, in, make([]byte, 256<<10)); err != nil {
		return nil, trailer, err
	}
	if _, err := f.ReadAt(trailer[:], size-gitstore.IDSize); err != nil {
		return nil, trailer, err
	}
	if sum := h.Sum(nil); !bytes.Equal(sum, trailer[:]) {
		return nil, trailer, gitstore.Damaged("%s has the checksum %s, its trailer says %s",
			filepath.Base(path), hex.EncodeToString(sum), hex.EncodeToString(trailer[:]))
	}
	return info, trailer, nil
}

// stoppable ends a long read with the context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// OnDisk is what a file takes, in bytes: small ones take more than they hold.
func OnDisk(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
