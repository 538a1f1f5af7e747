package missions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
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
// beyond that is left out, and noted in the log. It is read at each launch, so that
// not much is looked at either, kept or not.
const (
	mostConfigFile    = 1 << 20
	mostConfigEntries = 10000 // files and directories, also those that are left out alone
	mostConfigBytes   = 32 << 20
	mostConfigDepth   = 12
	mostConfigWalked  = 3 * mostConfigEntries // with those of parts that are left out
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
	walked  int
	full    bool // nothing more is looked at
}

// configPart is what is taken in whole or not at all: a file, or what is directly below
// a directory of the configuration, as a skill. One that is too much costs none of those
// behind it.
type configPart struct {
	files   []string
	entries int
	bytes   int64
}

var (
	errTooMuch      = fmt.Errorf("with it there would be more than %d files and directories, or %d MiB", mostConfigEntries, mostConfigBytes>>20)
	errTooMuchOfAll = errors.New("too much is left out, and nothing that would come after it is looked at")
	errTooLarge     = errors.New("it is too large")
)

// read takes in a file, or what is below a directory.
func (c *configReader) read(name string, dir bool) {
	if c.full {
		return
	}
	if !dir {
		c.take(name, false)
		return
	}
	var list configPart
	entries, err := c.list(&list, name)
	if err != nil {
		c.left(name, err)
		return
	}
	c.entries += list.entries
	for below, dir := range c.each(name, entries) {
		c.take(below, dir)
	}
}

// take takes in a part.
func (c *configReader) take(name string, dir bool) {
	var p configPart
	if err := c.walk(&p, name, dir, 1); err != nil {
		c.left(name, err)
		return
	}
	c.entries += p.entries
	c.bytes += p.bytes
	for _, file := range p.files {
		c.file(file)
	}
}

// walk finds the files of a part. An error if that is too much; what else is left out
// of it is noted.
func (c *configReader) walk(p *configPart, name string, dir bool, depth int) error {
	if !dir {
		return c.find(p, name)
	}
	entries, err := c.list(p, name)
	switch {
	case errors.Is(err, errTooMuch) || errors.Is(err, errTooMuchOfAll):
		return err
	case err == nil && depth >= mostConfigDepth:
		err = errors.New("it is too deep")
	}
	if err != nil {
		c.left(name, err)
		return nil
	}
	for below, dir := range c.each(name, entries) {
		if err := c.walk(p, below, dir, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// each are the entries of a directory that may be configuration, and whether they are
// directories. Links are followed, since people keep their configuration elsewhere and
// link to it.
func (c *configReader) each(name string, entries []fs.DirEntry) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for _, e := range entries {
			if c.full {
				return
			}
			if slices.Contains(foreignConfig, e.Name()) {
				continue
			}
			below := path.Join(name, e.Name())
			info, err := os.Stat(c.path(below))
			if err != nil {
				c.left(below, err)
				continue
			}
			if !yield(below, info.IsDir()) {
				return
			}
		}
	}
}

func (c *configReader) path(name string) string {
	return filepath.Join(c.root, filepath.FromSlash(name))
}

// list are the entries of a directory, in their order; none of one that is not there, and
// none of one with which there are too many.
func (c *configReader) list(p *configPart, name string) ([]fs.DirEntry, error) {
	if c.full {
		return nil, nil
	}
	if err := c.linked(c.path(name)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(c.path(name), os.O_RDONLY|unix.O_DIRECTORY, 0) // a FIFO would keep it waiting
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := mostConfigEntries - c.entries - p.entries
	entries, err := f.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if c.walked += len(entries); c.walked > mostConfigWalked {
		c.full = true
		return nil, errTooMuchOfAll
	}
	if len(entries) > most {
		return nil, errTooMuch
	}
	p.entries += len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// linked is why a link is not followed, as one that leads back to where sessions and
// credentials are; nil for what is none.
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

// find adds a file to a part, if it is one that is kept. Nothing is read of a part that
// is too much.
func (c *configReader) find(p *configPart, name string) error {
	full := c.path(name)
	err := c.linked(full)
	if err == nil && capture.IsSecret(capture.DefaultSecrets(), path.Base(name)) {
		err = errors.New("it looks like a secret")
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(full)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Size() > mostConfigFile:
		err = errTooLarge
	}
	if err != nil {
		c.left(name, err)
		return nil
	}
	if p.bytes += info.Size(); c.bytes+p.bytes > mostConfigBytes {
		return errTooMuch
	}
	p.files = append(p.files, name)
	return nil
}

// file reads one that was found.
func (c *configReader) file(name string) {
	f, info, err := disk.OpenRegular(c.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.left(name, err)
		return
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, mostConfigFile+1))
	if err == nil && len(content) > mostConfigFile {
		err = errTooLarge // it has grown
	}
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
