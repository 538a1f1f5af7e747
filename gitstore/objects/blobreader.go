package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
)

// BlobReader streams the content of a blob and gives its size. The bytes are
// verified as they pass: where they do not hash to id, the last Read returns an
// error that wraps ErrDamaged instead of io.EOF, so a copy is good only if it
// reached io.EOF. The caller closes it.
func (o *Reader) BlobReader(id gitstore.ID) (io.ReadCloser, int64, error) {
	for attempt := range 2 {
		if attempt > 0 {
			if err := o.Rescan(); err != nil {
				return nil, 0, gitstore.AboutObject(id, err)
			}
		}
		for _, d := range o.Dirs() {
			r, err := d.stream(o, id)
			if err == nil {
				return r.verified(id)
			}
			if errors.Is(err, errNeedsWhole) {
				return o.wholeReader(id)
			}
		}
	}
	// What is damaged in one store may be whole in another; and the error is
	// told in one place.
	return o.wholeReader(id)
}

// errNeedsWhole is returned for a delta, which cannot be streamed.
var errNeedsWhole = errors.New("a delta is read whole")

func (o *Reader) wholeReader(id gitstore.ID) (io.ReadCloser, int64, error) {
	data, err := o.Blob(id)
	if err != nil {
		return nil, 0, err
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

// stream is an object being inflated.
type stream struct {
	kind  gitstore.ObjectType
	size  int64
	src   io.Reader
	close func()

	id   gitstore.ID
	sum  hash.Hash
	left int64
	err  error
}

func (s *stream) verified(id gitstore.ID) (io.ReadCloser, int64, error) {
	if s.kind != gitstore.TypeBlob {
		s.close()
		return nil, 0, gitstore.AboutObject(id, fmt.Errorf("%w: a %s, not a blob", gitstore.ErrWrongType, s.kind))
	}
	s.id, s.left, s.sum = id, s.size, gitstore.NewVerifier(s.kind, s.size)
	return s, s.size, nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.left == 0 {
		s.err = s.finish()
		return 0, s.err
	}
	if int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n, err := s.src.Read(p)
	s.sum.Write(p[:n])
	s.left -= int64(n)
	if err != nil && (err != io.EOF || s.left > 0) {
		s.err = gitstore.AboutObject(s.id, gitstore.Damaged("inflate: %v", err))
		return n, s.err
	}
	return n, nil
}

func (s *stream) finish() error {
	var extra [1]byte
	if n, err := s.src.Read(extra[:]); n != 0 || err != io.EOF {
		return gitstore.AboutObject(s.id, gitstore.Damaged("it is longer than it says, or its checksum is wrong"))
	}
	if gitstore.ID(s.sum.Sum(nil)) != s.id {
		return gitstore.AboutObject(s.id, gitstore.Damaged("its content hashes to another id"))
	}
	return io.EOF
}

// Close releases what the stream holds.
func (s *stream) Close() error {
	if s.close != nil {
		s.close()
		s.close = nil
	}
	if s.err == nil {
		s.err = fs.ErrClosed
	}
	return nil
}

func (d *Dir) stream(o *Reader, id gitstore.ID) (*stream, error) {
	if p, off, ok, _ := d.find(id); ok {
		if s, err := p.stream(o, off); err == nil || errors.Is(err, errNeedsWhole) {
			return s, err
		}
	}
	return o.looseStream(d.LoosePath(id))
}

func (p *Pack) stream(o *Reader, off int64) (*stream, error) {
	f, err := p.open.acquire(p.Base + ".pack")
	if err != nil {
		return nil, err
	}
	h, err := p.header(f, off)
	if err == nil && h.kind > gitstore.TypeTag {
		err = errNeedsWhole
	}
	if err != nil {
		p.open.release(f)
		return nil, err
	}
	z, err := o.inflaters.get(bufio.NewReaderSize(io.NewSectionReader(f, h.data, f.size-h.data), inputBuffer(h.size)))
	if err != nil {
		p.open.release(f)
		return nil, gitstore.Damaged("inflate from %s.pack: %v", p.Base, err)
	}
	return &stream{kind: h.kind, size: h.size, src: z, close: func() {
		o.inflaters.put(z)
		p.open.release(f)
	}}, nil
}

func (o *Reader) looseStream(path string) (*stream, error) {
	f, fi, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	z, err := o.inflaters.get(bufio.NewReaderSize(f, 32<<10))
	if err != nil {
		f.Close()
		return nil, gitstore.Damaged("loose object: %v", err)
	}
	r := bufio.NewReaderSize(z, 4<<10)
	t, size, err := readLooseHeader(r, fi.Size())
	if err != nil {
		o.inflaters.put(z)
		f.Close()
		return nil, err
	}
	return &stream{kind: t, size: size, src: r, close: func() {
		o.inflaters.put(z)
		f.Close()
	}}, nil
}
