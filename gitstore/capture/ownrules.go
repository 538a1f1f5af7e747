package capture

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

const gitName = ".git"

// ownRules is what a directory brings to the rules: ignore files, and its being
// the top level of another repository. It is immutable.
type ownRules struct {
	files   ignore.Files
	sources []source
	nested  *nested // nil without a .git
}

// source is an ignore file in force.
type source struct {
	name    string
	stat    fingerprint
	trusted bool
	content string
}

// nested is a directory's ".git", whether or not it makes a repository of it.
type nested struct {
	isRepository bool
	worktree     bool // of the repository that holds the workspace
	exclude      string
	tracked      *trackedSet
	inputs       []input
}

func (n *nested) repository(path string) *repository {
	return &repository{base: path + "/", tracked: n.tracked}
}

// sameRules tells whether two directories' rules decide alike.
func (o *ownRules) sameRules(other *ownRules) bool {
	if o == nil || other == nil {
		return o == other
	}
	return o.nested == other.nested && slices.EqualFunc(o.sources, other.sources, func(a, b source) bool {
		return a.name == b.name && a.content == b.content
	})
}

// ownRules reads the rules that a directory has of its own, if any. It returns
// old itself if its files have not changed.
func (w *walker) ownRules(s *scene, names []beneath.Entry, old *ownRules) (*ownRules, error) {
	own := &ownRules{}
	for _, name := range []string{gitIgnoreName, umbraIgnoreName} {
		if !listed(names, name) {
			continue
		}
		src, ok, err := w.source(s, name, old)
		if err != nil {
			return nil, err
		}
		if ok {
			own.sources = append(own.sources, src)
		}
	}
	if s.at.depth > 0 && listed(names, gitName) {
		n, err := w.nestedAt(s.at.path, old)
		if err != nil {
			return nil, err
		}
		if n.worktree {
			return nil, &skipError{ReasonWorktree}
		}
		own.nested = n
	}
	switch {
	case own.nested == nil && len(own.sources) == 0:
		return nil, nil
	case old != nil && own.nested == old.nested && slices.Equal(own.sources, old.sources):
		return old, nil
	}
	own.parse(s.at.path)
	return own, nil
}

func listed(names []beneath.Entry, name string) bool {
	_, ok := slices.BinarySearchFunc(names, name, func(e beneath.Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	return ok
}

// parse makes the lists of the sources. An .umbraignore and a .gitignore are
// told apart by the label of their rules.
func (o *ownRules) parse(dir string) {
	for _, src := range o.sources {
		list := ignore.Parse(join(dir, src.name), []byte(src.content))
		if src.name == gitIgnoreName {
			o.files.Git = list
		} else {
			o.files.Umbra = list
		}
	}
	if o.nested != nil && o.nested.isRepository {
		o.files.Nested = true
		o.files.Exclude = ignore.Parse("info/exclude", []byte(o.nested.exclude))
	}
}

// source reads an ignore file of a directory. It reports false if it has no
// rules: it is a link, which Git does not follow here, or cannot be read.
func (w *walker) source(s *scene, name string, old *ownRules) (source, bool, error) {
	at := stamp{now: coarseNow(), coarse: s.system.coarse}
	st, err := s.dir.Lstat(name)
	if err != nil {
		return source{}, false, passable(err)
	}
	if st.Kind() != beneath.File || st.Size > maxIgnoreFile {
		return source{}, false, nil
	}
	stat := fingerprintOf(&st)
	if old != nil {
		for _, o := range old.sources {
			if o.name == name && o.trusted && o.stat == stat {
				return o, true, nil
			}
		}
	}
	f, opened, err := s.dir.Open(name)
	if err != nil {
		return source{}, false, passable(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return source{}, false, passable(err)
	}
	src := source{name: name, stat: fingerprintOf(&opened), content: string(content)}
	src.trusted = at.trusts(&src.stat) && int64(len(content)) == src.stat.size
	return src, true, nil
}

// passable drops the errors for which Git goes on without an ignore file.
func passable(err error) error {
	if _, ok := skipReasonOf(err); ok || vanished(err) {
		return nil
	}
	return err
}

// nestedAt finds what the .git of a directory makes of it.
func (w *walker) nestedAt(path string, old *ownRules) (*nested, error) {
	if old != nil && old.nested != nil && !old.nested.changed() {
		return old.nested, nil
	}
	n := &nested{}
	dir := filepath.Join(w.root.Path(), filepath.FromSlash(path))
	for _, part := range []string{"", "HEAD", "objects", "refs"} {
		if err := n.note(filepath.Join(dir, gitName, part)); err != nil {
			return nil, err
		}
	}
	repo, err := usergit.At(dir)
	if unsupported := (*usergit.UnsupportedError)(nil); errors.As(err, &unsupported) {
		n.isRepository = true
		return n, nil
	}
	if err != nil {
		// A .git that leads nowhere makes no repository, for Git neither.
		return n, nil
	}
	n.isRepository = true
	return n, n.read(repo, w.rules)
}

// read takes over the rules of a nested repository. Its files may be anywhere;
// what cannot be read has no rules.
func (n *nested) read(repo *usergit.Repository, rules *Rules) error {
	if repo.Linked && rules.sources.Repository != nil {
		common, err := repo.Identity()
		if err == nil && common.Device == rules.common.Device && common.Inode == rules.common.Inode {
			n.worktree = true
			return nil
		}
	}
	exclude := filepath.Join(repo.CommonDir, "info", "exclude")
	if err := n.note(exclude); err != nil {
		return err
	}
	if data, err := os.ReadFile(exclude); err == nil {
		n.exclude = string(data)
	}
	if err := n.note(filepath.Join(repo.GitDir, "index")); err != nil {
		return err
	}
	if index, err := repo.Index(); err == nil {
		n.tracked = newTrackedSet(index, "")
	}
	return nil
}

func (n *nested) note(path string) error {
	state, err := stateOf(path, os.Stat)
	if err != nil && passable(err) != nil {
		return err
	}
	n.inputs = append(n.inputs, input{path, os.Stat, state})
	return nil
}

// changed tells whether the repository's files are others than when it was
// read.
func (n *nested) changed() bool {
	for _, in := range n.inputs {
		now, err := stateOf(in.path, in.look)
		if err != nil || !now.same(in.state) {
			return true
		}
	}
	return false
}
