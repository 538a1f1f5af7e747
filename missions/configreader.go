package missions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// What is kept of an agent's configuration: it is text that people write. What is
// beyond that is left out, and noted in the log; at a bound of the whole nothing
// more is read, since it is read at each launch.
const (
	mostConfigFile    = 1 << 20
	mostConfigEntries = 10000 // files and directories, also those that are left out
	mostConfigBytes   = 32 << 20
	mostConfigDepth   = 12
)

// foreignConfig are directories of what programs installed there.
var foreignConfig = []string{".git", "node_modules", ".venv", "__pycache__"}

// configFile is a file of an agent's configuration.
type configFile struct {
	name    string
	content []byte
	exec    bool
}

// configReader reads an agent's configuration.
type configReader struct {
	adapter sessions.Configured
	root    string
	left    func(name string, why error)
	files   []configFile
	entries int
	bytes   int64
	full    bool
}

// read takes in a file, or a directory with what is below it. Links are
// followed, since people keep their configuration elsewhere and link to it; but
// none that leads back to where sessions and credentials are.
func (c *configReader) read(name string, dir bool, depth int) {
	if c.full {
		return
	}
	full := filepath.Join(c.root, filepath.FromSlash(name))
	if err := c.linked(full); err != nil {
		c.left(name, err)
		return
	}
	if !dir {
		c.file(name, full)
		return
	}
	entries, err := c.list(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && depth >= mostConfigDepth:
		err = errors.New("it is too deep")
	}
	if err != nil {
		c.left(name, err)
		return
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if slices.Contains(foreignConfig, e.Name()) {
			continue
		}
		if c.full {
			return
		}
		info, err := os.Stat(filepath.Join(full, e.Name()))
		if err != nil {
			c.left(below, err)
			continue
		}
		c.read(below, info.IsDir(), depth+1)
	}
}

// list are the entries of a directory, in their order; none of one with which there
// are too many.
func (c *configReader) list(dir string) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0) // a FIFO would keep it waiting
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := mostConfigEntries - c.entries
	entries, err := f.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > most {
		c.full = true
		return nil, errTooMuch
	}
	c.entries += len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// linked is why a link is not followed, nil for what is none.
func (c *configReader) linked(full string) error {
	info, err := os.Lstat(full)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // what is not there is met later
	}
	target, err := filepath.EvalSymlinks(full)
	if err == nil && overlap(resolvedOr(c.root), target) {
		err = fmt.Errorf("it is a link to %s, where more is than configuration", target)
	}
	return err
}

var (
	errTooMuch  = errors.New("there is too much of it all, and nothing that would come after it is kept")
	errTooLarge = errors.New("it is too large")
)

func (c *configReader) file(name, full string) {
	if capture.IsSecret(capture.DefaultSecrets(), path.Base(name)) {
		c.left(name, errors.New("it looks like a secret"))
		return
	}
	f, info, err := disk.OpenRegular(full)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.left(name, err)
		return
	}
	defer f.Close()
	content, err := c.content(f, info)
	if err == nil {
		content, err = c.adapter.CleanConfig(name, content)
	}
	if err != nil {
		c.left(name, err)
		return
	}
	content = secrets.Redact(content)
	c.files = append(c.files, configFile{name: name, content: content, exec: info.Mode()&0o100 != 0})
}

// content is what is in a file, if it is within the bounds.
func (c *configReader) content(f *os.File, info fs.FileInfo) ([]byte, error) {
	size := info.Size()
	if size > mostConfigFile {
		return nil, errTooLarge
	}
	if c.bytes+size > mostConfigBytes {
		c.full = true
		return nil, errTooMuch
	}
	content, err := io.ReadAll(io.LimitReader(f, mostConfigFile+1))
	c.bytes += int64(len(content))
	if err == nil && len(content) > mostConfigFile {
		err = errTooLarge // it has grown
	}
	return content, err
}
