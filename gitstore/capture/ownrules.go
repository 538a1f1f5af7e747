package capture

import (
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

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
func (w *walker) ownRules(s *scene, names *beneath.Listing, old *ownRules) (*ownRules, error) {
	own := &ownRules{}
	for _, name := range []string{ignore.GitName, ignore.UmbraName} {
		if !names.Has(name) {
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
	if s.at.depth > 0 && names.Has(gitName) {
		var before *nested
		if old != nil {
			before = old.nested
		}
		n, err := nestedAt(w.root.Path(), s.at.path, w.rules, before)
		if err != nil {
			return nil, err
		}
		if n.worktree {
			return nil, &skipError{documents.ReasonWorktree}
		}
		own.nested = n
		w.met(n)
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

// parse makes the lists of the sources. An .umbraignore and a .gitignore are
// told apart by the label of their rules.
func (o *ownRules) parse(dir string) {
	for _, src := range o.sources {
		list := ignore.Parse(treepath.Join(dir, src.name), src.content)
		if src.name == ignore.GitName {
			o.files.Git = list
		} else {
			o.files.Umbra = list
		}
	}
	if o.nested != nil && o.nested.isRepository {
		o.files.Nested = true
		o.files.Exclude = ignore.Parse("info/exclude", o.nested.exclude)
	}
}

// source reads an ignore file of a directory. It reports false if it has no
// rules: it is a link, which Git does not follow here, or cannot be read.
func (w *walker) source(s *scene, name string, old *ownRules) (source, bool, error) {
	at := stamp{now: disk.Now(), coarse: s.system.coarse}
	st, err := s.dir.Lstat(name)
	if err != nil {
		return source{}, false, passable(err)
	}
	if st.Kind() != beneath.File || st.Size > MaxIgnoreFile {
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
	var content strings.Builder // as large as the file, and never copied
	content.Grow(int(min(opened.Size, MaxIgnoreFile)))
	if _, err := io.Copy(&content, io.LimitReader(f, MaxIgnoreFile)); err != nil {
		return source{}, false, passable(err)
	}
	src := source{name: name, stat: fingerprintOf(&opened), content: content.String()}
	src.trusted = at.trusts(&src.stat) && int64(content.Len()) == src.stat.size
	return src, true, nil
}

// passable drops the errors for which Git goes on without an ignore file.
func passable(err error) error {
	if _, ok := skipReasonOf(err); ok || vanished(err) {
		return nil
	}
	return err
}
