package agents

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

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// What is kept of an agent's configuration: it is text that people write. What is
// beyond that is left out, and noted in the log. It is read at each launch, so that
// not much is looked at either, kept or not.
const (
	MaxConfigFileBytes = 1 << 20
	maxConfigEntries   = 10000 // files and directories, also those that are left out alone
	MaxConfigBytes     = 32 << 20
	maxConfigDepth     = 12
	maxConfigWalked    = 3 * maxConfigEntries // with those of parts that are left out
)

// foreignConfigDirs are directories of what programs installed there.
var foreignConfigDirs = []string{".git", "node_modules", ".venv", "__pycache__"}

// configFile is a file of an agent's configuration.
type configFile struct {
	name    string
	content []byte
	exec    bool
}

// configReader reads an agent's configuration.
type configReader struct {
	adapter  sessions.Configured
	root     string
	leaveOut func(name string, why error)
	files    []configFile
	entries  int
	bytes    int64
	walked   int
	stopped  bool // nothing more is looked at
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
	ErrConfigTooLarge    = fmt.Errorf("with it there would be more than %d files and directories, or %d MiB", maxConfigEntries, MaxConfigBytes>>20)
	errConfigWalkTooLong = errors.New("too much is left out, and nothing that would come after it is looked at")
	errFileTooLarge      = errors.New("it is too large")
)

// read takes in a file, or what is below a directory.
func (c *configReader) read(name string, dir bool) {
	if c.stopped {
		return
	}
	if !dir {
		c.takePart(name, false)
		return
	}
	var list configPart
	entries, err := c.listDir(&list, name)
	if err != nil {
		c.leaveOut(name, err)
		return
	}
	c.entries += list.entries
	for below, dir := range c.entriesBelow(name, entries) {
		c.takePart(below, dir)
	}
}

// takePart takes in a part.
func (c *configReader) takePart(name string, dir bool) {
	var p configPart
	if err := c.collectPart(&p, name, dir, 1); err != nil {
		c.leaveOut(name, err)
		return
	}
	c.entries += p.entries
	c.bytes += p.bytes
	for _, file := range p.files {
		c.readFile(file)
	}
}

// collectPart finds the files of a part. An error if that is too much; what else is left out
// of it is noted.
func (c *configReader) collectPart(p *configPart, name string, dir bool, depth int) error {
	if !dir {
		return c.addFile(p, name)
	}
	entries, err := c.listDir(p, name)
	switch {
	case errors.Is(err, ErrConfigTooLarge) || errors.Is(err, errConfigWalkTooLong):
		return err
	case err == nil && depth >= maxConfigDepth:
		err = errors.New("it is too deep")
	}
	if err != nil {
		c.leaveOut(name, err)
		return nil
	}
	for below, dir := range c.entriesBelow(name, entries) {
		if err := c.collectPart(p, below, dir, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// entriesBelow are the entries of a directory that may be configuration, and whether they are
// directories. Links are followed, since people keep their configuration elsewhere and
// link to it.
func (c *configReader) entriesBelow(name string, entries []fs.DirEntry) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for _, e := range entries {
			if c.stopped {
				return
			}
			if slices.Contains(foreignConfigDirs, e.Name()) {
				continue
			}
			below := path.Join(name, e.Name())
			info, err := os.Stat(c.path(below))
			if err != nil {
				c.leaveOut(below, err)
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

// listDir are the entries of a directory, in their order; none of one that is not there, and
// none of one with which there are too many.
func (c *configReader) listDir(p *configPart, name string) ([]fs.DirEntry, error) {
	if c.stopped {
		return nil, nil
	}
	if err := c.checkLink(c.path(name)); err != nil {
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
	most := maxConfigEntries - c.entries - p.entries
	entries, err := f.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if c.walked += len(entries); c.walked > maxConfigWalked {
		c.stopped = true
		return nil, errConfigWalkTooLong
	}
	if len(entries) > most {
		return nil, ErrConfigTooLarge
	}
	p.entries += len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// checkLink is why a link is not followed, as one that leads back to where sessions and
// credentials are; nil for what is none.
func (c *configReader) checkLink(full string) error {
	info, err := os.Lstat(full)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // what is not there is met later
	}
	target, err := filepath.EvalSymlinks(full)
	if err == nil && PathsOverlap(projects.ResolveLinks(c.root), target) {
		err = fmt.Errorf("it is a link to %s, where more is than configuration", target)
	}
	return err
}

// addFile adds a file to a part, if it is one that is kept. Nothing is read of a part that
// is too much.
func (c *configReader) addFile(p *configPart, name string) error {
	full := c.path(name)
	err := c.checkLink(full)
	if err == nil && secretnames.IsSecret(secretnames.Defaults(), name) {
		err = errors.New("it looks like a secret")
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(full)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Size() > MaxConfigFileBytes:
		err = errFileTooLarge
	}
	if err != nil {
		c.leaveOut(name, err)
		return nil
	}
	if p.bytes += info.Size(); c.bytes+p.bytes > MaxConfigBytes {
		return ErrConfigTooLarge
	}
	p.files = append(p.files, name)
	return nil
}

// readFile reads one that was found.
func (c *configReader) readFile(name string) {
	f, info, err := disk.OpenRegular(c.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.leaveOut(name, err)
		return
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxConfigFileBytes+1))
	if err == nil && len(content) > MaxConfigFileBytes {
		err = errFileTooLarge // it has grown
	}
	if err == nil {
		content, err = c.adapter.CleanConfig(name, content)
	}
	if err != nil {
		c.leaveOut(name, err)
		return
	}
	content = secrets.Redact(content)
	c.files = append(c.files, configFile{name: name, content: content, exec: info.Mode()&0o100 != 0})
}
