package ignore

import "sort"

// Verdict tells whether a path is ignored and which rule said so: the last
// one that matches the path itself or, below an ignored directory, the one
// that ignored the directory.
type Verdict struct {
	Ignored bool
	list    *List // of the rule; nil if none matches
	rule    int
}

// Ruled tells whether a rule said so.
func (v Verdict) Ruled() bool { return v.list != nil }

// Rule is the rule that said so, nil if none matches.
func (v Verdict) Rule() *Rule {
	if v.list == nil {
		return nil
	}
	return v.list.rule(v.rule)
}

// Source is the rule's, "" if none matches.
func (v Verdict) Source() string {
	if v.list == nil {
		return ""
	}
	return v.list.source
}

// The names of ignore files.
const (
	GitName   = ".gitignore"
	UmbraName = ".umbraignore"
)

// Files are the ignore rules that one directory brings with it. A list is nil
// where there is none. As Git, a caller does not follow a .gitignore that is a
// symbolic link.
type Files struct {
	Git   *List // .gitignore
	Umbra *List // .umbraignore

	// Nested says that the directory is the top level of another repository:
	// the rules of the repository around it do not reach into it; the user's
	// own excludes and all .umbraignore lists do. A directory that is ignored
	// stays so.
	Nested bool
	// Exclude is the repository's info/exclude, for a top level only.
	Exclude *List
}

// Matcher answers for the entries of one directory. It is immutable and safe
// for concurrent use.
//
// The rules, strongest first: .umbraignore lists, deepest first; .gitignore
// lists, deepest first; info/exclude; the user's own excludes. In a list the
// last rule that matches wins. What lies in an ignored directory is ignored,
// except where a later .umbraignore rule that is negated and holds a slash
// (such as "!build/out.db", "!build/keep/" or "!**/dev.sqlite") un-ignores it;
// a negated rule without a slash does not reach into ignored directories, as
// in Git, so that they need not be walked.
type Matcher struct {
	git, umbra *frame
	global     *List
	path       string // from the first matcher's directory: "" or "a/b/"
	depth      int    // slashes in path
	fold       bool

	self     Verdict // of the directory itself
	selfRank rank    // of the .umbraignore rule that ignored it, else 0
}

// frame is a list and where it stands, linked to the next weaker one.
type frame struct {
	list  *List
	base  int // length of its directory's path
	depth int // slashes in its directory's path
	next  *frame
}

// rank orders .umbraignore rules by precedence; 0 is below all of them.
type rank uint64

func (f *frame) rank(rule int) rank { return rank(f.base)<<32 | rank(rule) + 1 }

// New is the matcher of a repository's top level, or of a workspace that has
// no repository. For a workspace below the top level, enter it from there,
// one component at a time. Global is the user's own excludes file; ignoreCase
// is core.ignoreCase.
func New(global *List, ignoreCase bool, top Files) *Matcher {
	m := &Matcher{global: global, fold: ignoreCase}
	m.open(top, true)
	return m
}

// Enter is the matcher of the subdirectory name. Only the lists of Files are
// read; a .gitignore inside an ignored directory has no effect, as in Git.
func (m *Matcher) Enter(name string, f Files) *Matcher {
	child := &Matcher{
		git: m.git, umbra: m.umbra, global: m.global, fold: m.fold,
		path: m.path + name + "/", depth: m.depth + 1,
	}
	child.self, child.selfRank = m.match(name, true)
	child.open(f, f.Nested)
	return child
}

func (m *Matcher) open(f Files, top bool) {
	if top {
		m.git = m.push(m.push(nil, m.global), f.Exclude)
	}
	if !m.self.Ignored {
		m.git = m.push(m.git, f.Git)
	}
	m.umbra = m.push(m.umbra, f.Umbra)
}

func (m *Matcher) push(next *frame, l *List) *frame {
	if l == nil {
		return next
	}
	return &frame{list: l, base: len(m.path), depth: m.depth, next: next}
}

// Self is the verdict on the matcher's own directory. A top level is never
// ignored.
func (m *Matcher) Self() Verdict { return m.self }

// Match is the verdict on an entry of the directory. Only a true directory is
// one: a symbolic link to a directory is not.
func (m *Matcher) Match(name string, isDir bool) Verdict {
	v, _ := m.match(name, isDir)
	return v
}

// MayContainIncluded tells whether something below the ignored subdirectory
// name could be un-ignored, so that a walk must enter it all the same. It may
// say so where nothing is. It can't know of .umbraignore files in there that
// have not been read.
func (m *Matcher) MayContainIncluded(name string) bool {
	self, selfRank := m.match(name, true)
	if !self.Ignored {
		return true
	}
	var buffer [512]byte
	path := append(append(buffer[:0], m.path...), name...)
	for f := m.umbra; f != nil; f = f.next {
		for _, n := range f.list.negatedPaths {
			if f.rank(int(n)) <= selfRank {
				continue
			}
			if w := f.list.wild(&f.list.rules[n]); w.mayMatchBelow(path[f.base:], m.fold) {
				return true
			}
		}
	}
	return false
}

// match also gives the rank of the .umbraignore rule that ignores the entry.
func (m *Matcher) match(name string, isDir bool) (Verdict, rank) {
	var buffer [512]byte
	e := entry{
		path: append(append(buffer[:0], m.path...), name...), name: name,
		depth: m.depth, dir: isDir, fold: m.fold, inIgnored: m.self.Ignored,
	}
	for f := m.umbra; f != nil; f = f.next {
		n := f.last(&e)
		if n < 0 {
			continue
		}
		switch {
		case f.list.rules[n].negated && f.rank(n) > m.selfRank:
			return Verdict{list: f.list, rule: n}, 0
		case m.self.Ignored:
			return m.self, max(m.selfRank, f.rank(n))
		}
		return Verdict{Ignored: true, list: f.list, rule: n}, f.rank(n)
	}
	if m.self.Ignored {
		return m.self, m.selfRank
	}
	for f := m.git; f != nil; f = f.next {
		if n := f.last(&e); n >= 0 {
			return Verdict{Ignored: !f.list.rules[n].negated, list: f.list, rule: n}, 0
		}
	}
	return Verdict{}, 0
}

// entry is what a rule is asked about.
type entry struct {
	path      []byte // from the first matcher's directory
	name      string // the last component of path
	depth     int    // slashes in path
	dir       bool
	fold      bool
	inIgnored bool // only rules that reach into ignored directories count
}

// last is the position of the last rule of the list that matches, -1 if none.
func (f *frame) last(e *entry) int {
	l := f.list
	if e.fold {
		for n := len(l.rules) - 1; n >= 0; n-- {
			if f.matches(n, e) {
				return n
			}
		}
		return -1
	}
	best := l.lastOf(l.names, e.name, e)
	if ext := extension(e.name); ext != "" && len(l.extensions) > 0 {
		best = max(best, l.lastOf(l.extensions, ext, e))
	}
	if len(l.paths) > 0 {
		best = f.scan(l.paths[int32(e.depth-f.depth)], e, best)
	}
	return f.scan(l.rest, e, best)
}

// scan is the last of the rules at these positions that matches, best if none
// after that does.
func (f *frame) scan(positions []int32, e *entry, best int) int {
	for i := len(positions) - 1; i >= 0 && int(positions[i]) > best; i-- {
		if f.matches(int(positions[i]), e) {
			return int(positions[i])
		}
	}
	return best
}

// lastOf is the last of the rules of this name that applies to e, -1 if none does.
func (l *List) lastOf(sorted []int32, name string, e *entry) int {
	end := sort.Search(len(sorted), func(i int) bool { return l.literal(&l.rules[sorted[i]]) > name })
	for i := end - 1; i >= 0; i-- {
		r := &l.rules[sorted[i]]
		if l.literal(r) != name {
			break
		}
		if r.applies(e) {
			return int(sorted[i])
		}
	}
	return -1
}

func (r *rule) applies(e *entry) bool {
	return (e.dir || !r.dirOnly) && (r.path || !r.negated || !e.inIgnored)
}

// matches tells whether the rule at a position of the list matches.
func (f *frame) matches(n int, e *entry) bool {
	r := &f.list.rules[n]
	if !r.applies(e) {
		return false
	}
	text := e.path[f.base:]
	if !r.path {
		text = e.path[len(e.path)-len(e.name):]
	} else if slashes := int32(e.depth - f.depth); slashes < r.slashes || slashes > r.slashes && !r.deep {
		return false
	}
	return f.list.matches(r, text, e.fold)
}
