package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// inflaterPool reuses zlib readers, which are 40 KiB each.
type inflaterPool struct{ pool sync.Pool }

type inflater interface {
	io.ReadCloser
	zlib.Resetter
}

func (p *inflaterPool) get(src io.Reader) (inflater, error) {
	if z, ok := p.pool.Get().(inflater); ok {
		if err := z.Reset(src, nil); err != nil {
			p.pool.Put(z)
			return nil, err
		}
		return z, nil
	}
	r, err := zlib.NewReader(src)
	if err != nil {
		return nil, err
	}
	z, ok := r.(inflater)
	if !ok {
		return nil, fmt.Errorf("zlib reader %T cannot be reset", r)
	}
	return z, nil
}

func (p *inflaterPool) put(z inflater) { p.pool.Put(z) }

// ReadLoose reads a loose object file.
func (o *Reader) ReadLoose(path string) (gitstore.ObjectType, []byte, error) {
	raw, err := disk.ReadFile(path)
	if err != nil {
		return 0, nil, asDamage(err)
	}
	return o.DecodeLoose(raw)
}

func (o *Reader) DecodeLoose(raw []byte) (gitstore.ObjectType, []byte, error) {
	z, err := o.inflaters.get(bytes.NewReader(raw))
	if err != nil {
		return 0, nil, gitstore.Damaged("loose object: %v", err)
	}
	defer o.inflaters.put(z)
	r := bufio.NewReaderSize(z, 512)
	t, size, err := readLooseHeader(r, int64(len(raw)))
	if err != nil {
		return 0, nil, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, gitstore.Damaged("loose object: %v", err)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return 0, nil, gitstore.Damaged("loose object is longer than it says, or its checksum is wrong")
	}
	return t, data, nil
}

// readLooseHeader reads "<type> <size>\0".
func readLooseHeader(r *bufio.Reader, deflated int64) (gitstore.ObjectType, int64, error) {
	var head []byte
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, 0, gitstore.Damaged("loose object: %v", err)
		}
		if c == 0 {
			break
		}
		if head = append(head, c); len(head) > 32 {
			return 0, 0, gitstore.Damaged("loose object has no header")
		}
	}
	word, digits, _ := strings.Cut(string(head), " ")
	t, ok := gitstore.ParseType(word)
	size, err := strconv.ParseInt(digits, 10, 63)
	if !ok || err != nil || size < 0 || size > maxInflated(deflated) {
		return 0, 0, gitstore.Damaged("loose object has the header %q", head)
	}
	return t, size, nil
}

// OpenFile opens a file of an object store, the user's too, where anything may
// stand in its place.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	f, info, err := disk.OpenRegular(path)
	return f, info, asDamage(err)
}

// asDamage says of what is no regular file that it is damaged.
func asDamage(err error) error {
	if errors.Is(err, disk.ErrNotRegular) {
		return gitstore.Damaged("%v", err)
	}
	return err
}

// looseHeader reads only the header: the type and the size of the content.
func (o *Reader) looseHeader(path string) (gitstore.ObjectType, int64, error) {
	f, fi, err := OpenFile(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	z, err := o.inflaters.get(bufio.NewReaderSize(f, 512))
	if err != nil {
		return 0, 0, gitstore.Damaged("loose object: %v", err)
	}
	defer o.inflaters.put(z)
	return readLooseHeader(bufio.NewReaderSize(z, 64), fi.Size())
}
