package capture

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Filter tells a watcher which directories of a workspace nothing is captured
// in, before it watches them (H27). It reads the ignore files on disk itself,
// and reads them again if they have changed; an answer once given may be
// outdated when Result.RulesChanged says so. It may be asked from any
// goroutine.
type Filter struct {
	rules *Rules
	known Known

	mu   sync.Mutex
	dirs map[string]*filterDirectory
}

// filterDirectory is a directory's own rules and the files they were read from.
type filterDirectory struct {
	own    *ownRules
	inputs []input
}

// NewFilter makes a Filter of the rules of a workspace and of what is captured there
// already: that stays captured, whatever rules come.
func NewFilter(rules *Rules, known Known) *Filter {
	return &Filter{rules: rules, known: known, dirs: map[string]*filterDirectory{}}
}

// Ignored tells whether nothing in and below the directory is captured. The
// path is relative to the workspace. What cannot be read is not ignored.
func (f *Filter) Ignored(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	top := f.own("")
	m, repo, path := f.rules.outside.Enter(top.files), f.rules.repo, ""
	for name := range strings.SplitSeq(dir, "/") {
		if documents.NeverCaptured(name) {
			return true
		}
		path = treepath.Join(path, name)
		v := m.Match(name, true)
		if v.Ignored && !(documents.Overridable(v) && repo.hasBelow(path)) && !m.MayContainIncluded(name) && !f.known.base.holdsBelow(path) {
			return true
		}
		own := f.own(path)
		m = m.Enter(name, own.files)
		if own.nested == nil {
			continue
		}
		if own.nested.worktree {
			return true
		}
		if own.nested.isRepository {
			repo = nil
			if !m.Self().Ignored {
				repo = own.nested.repository(path)
			}
		}
	}
	return false
}

// own reads a directory's own rules, unless they are as they were.
func (f *Filter) own(path string) *ownRules {
	d := f.dirs[path]
	if d != nil && !d.changed() {
		return d.own
	}
	d = &filterDirectory{own: &ownRules{}}
	delete(f.dirs, path)
	dir := filepath.Join(f.rules.Root(), filepath.FromSlash(path))
	for _, name := range []string{ignore.GitName, ignore.UmbraName} {
		at := filepath.Join(dir, name)
		state, err := stateOf(at, os.Lstat)
		d.inputs = append(d.inputs, input{at, os.Lstat, state})
		if err != nil || !state.regular || state.size > MaxIgnoreFile {
			continue
		}
		// Not through a link that has taken its place meanwhile.
		file, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		content := make([]byte, state.size)
		n, _ := io.ReadFull(file, content)
		_ = file.Close()
		d.own.sources = append(d.own.sources, source{name: name, content: string(content[:n])})
	}
	git := filepath.Join(dir, gitName)
	state, _ := stateOf(git, os.Stat)
	d.inputs = append(d.inputs, input{git, os.Stat, state})
	if path != "" && state.inode != 0 {
		if n, err := nestedAt(f.rules.Root(), path, f.rules, nil); err == nil {
			d.own.nested = n
		}
	}
	if d.own.parse(path); d.own.nested != nil || len(d.own.sources) > 0 {
		f.dirs[path] = d
	}
	return d.own
}

func (d *filterDirectory) changed() bool {
	for _, in := range d.inputs {
		now, err := stateOf(in.path, in.look)
		if err != nil || !now.same(in.state) {
			return true
		}
	}
	return d.own.nested != nil && d.own.nested.changed()
}
