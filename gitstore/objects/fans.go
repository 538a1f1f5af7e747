package objects

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Fans are the directories of loose objects of a repository, 256 at most, as far
// as a large batch knows that they are not there: an import looks for none of
// its objects in them.
type Fans [256]atomic.Bool

// lack reports whether no loose object with the id's first byte was there when
// it was asked first.
func (f *Fans) lack(d *Dir, id gitstore.ID) bool {
	if f[id[0]].Load() {
		return true
	}
	_, err := os.Lstat(filepath.Dir(d.LoosePath(id)))
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f[id[0]].Store(true)
	return true
}
