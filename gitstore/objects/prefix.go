package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// minPrefix is the shortest prefix of an id that is resolved.
const minPrefix = 4

// ResolvePrefix returns every stored commit whose id begins with prefix (4 to 40
// hexadecimal digits in lower case), sorted. Other objects are passed over; one that
// cannot be read is an error, since nobody knows what it is.
func (o *Reader) ResolvePrefix(prefix string) ([]gitstore.ID, error) {
	if len(prefix) < minPrefix || len(prefix) > 2*gitstore.IDSize || !gitstore.IsLowerHex(prefix) {
		return nil, &gitstore.InvalidIDError{Text: prefix}
	}
	if err := o.Rescan(); err != nil {
		return nil, err
	}
	var out []gitstore.ID
	for _, d := range o.Dirs() {
		ids, err := d.commits(o, prefix)
		if err != nil {
			return nil, fmt.Errorf("look up %s: %w", prefix, err)
		}
		out = append(out, ids...)
	}
	slices.SortFunc(out, gitstore.ID.Compare)
	return slices.Compact(out), nil
}

func (d *Dir) commits(o *Reader, prefix string) ([]gitstore.ID, error) {
	var out []gitstore.ID
	for _, p := range d.Packs {
		ids, err := p.commits(prefix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, ids...)
	}
	names, err := os.ReadDir(d.path + "/" + prefix[:2])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range names {
		id, err := gitstore.ParseID(prefix[:2] + e.Name())
		if err != nil || !strings.HasPrefix(id.String(), prefix) {
			continue
		}
		t, _, err := o.looseHeader(d.LoosePath(id))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, gitstore.AboutObject(id, err) // it may be the commit that is meant
		}
		if err == nil && t == gitstore.TypeCommit {
			out = append(out, id)
		}
	}
	return out, nil
}

func (p *Pack) commits(prefix string) ([]gitstore.ID, error) {
	low, err := gitstore.ParseID(prefix + strings.Repeat("0", 2*gitstore.IDSize-len(prefix)))
	if err != nil || p.Broken != nil {
		return nil, err
	}
	at, _, err := p.search(low)
	if err != nil {
		return nil, err
	}
	var out []gitstore.ID
	for ; at < p.Count(); at++ {
		id, err := p.Name(at)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(id.String(), prefix) {
			break
		}
		off, err := p.Offset(at)
		if err != nil {
			return nil, err
		}
		t, err := p.packedType(off)
		if err != nil {
			return nil, err
		}
		if t == gitstore.TypeCommit {
			out = append(out, id)
		}
	}
	return out, nil
}
