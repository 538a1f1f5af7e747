// Package secretnames owns by which names files are taken to hold credentials: the
// patterns, what they mean, and those that are built in; and which content is one under any
// name. It opens no file.
package secretnames

import (
	"fmt"
	"path"
	"strings"
)

// Patterns are compiled patterns, as of path.Match on the last component of a path. A
// pattern with slashes is for as many components, and one that begins with a slash for
// the whole path. A pattern that begins with "!" takes files out again.
type Patterns []secretPattern

type secretPattern struct {
	glob  string // of the name
	taken bool   // "!": files that match are no secrets

	shape      secretShape
	head, tail string // of a glob whose only special character is a "*" between them

	dir  string // globs of the directories above the name, "" for any
	deep int    // how many directories dir has
	top  bool   // the pattern begins at the top of the workspace
}

// secretShape tells how a name is matched: nearly all patterns are simple, and each
// new file is held against all of them.
type secretShape uint8

const (
	anyGlob secretShape = iota
	wholeName
	headAndTail
)

// Check reports the first pattern that is malformed, and so would match nothing.
func Check(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(strings.TrimPrefix(pattern, "!"), ""); err != nil {
			return fmt.Errorf("secret pattern %q: %w", pattern, err)
		}
	}
	return nil
}

// Compile makes patterns of texts that Check knows to be well formed.
func Compile(patterns []string) Patterns {
	out := make(Patterns, len(patterns))
	for i, pattern := range patterns {
		out[i] = compileSecret(pattern)
	}
	return out
}

func compileSecret(pattern string) secretPattern {
	glob, taken := strings.CutPrefix(pattern, "!")
	glob, top := strings.CutPrefix(strings.ToLower(glob), "/")
	p := secretPattern{glob: glob, taken: taken, top: top}
	if i := strings.LastIndexByte(glob, '/'); i >= 0 {
		p.dir, p.glob = glob[:i], glob[i+1:]
		p.deep = strings.Count(p.dir, "/") + 1
	}
	switch head, tail, star := strings.Cut(p.glob, "*"); {
	case strings.ContainsAny(head+tail, `*?[\`):
	case star:
		p.shape, p.head, p.tail = headAndTail, head, tail
	default:
		p.shape = wholeName
	}
	return p
}

// IsSecret tells whether the file at a path of the workspace is left out by patterns.
func IsSecret(patterns []string, file string) bool {
	slash := strings.LastIndexByte(file, '/')
	return Compile(patterns).Match(file[:max(slash, 0)], file[slash+1:])
}

// copySuffixes end the names of the copies that editors and people make of a file.
var copySuffixes = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".swp"}

// Match tells whether a regular file of a directory of the workspace, "" for the
// workspace itself, is a secret. The last pattern that matches decides.
func (s Patterns) Match(dir, name string) bool {
	p := s.last(dir, name)
	return p != nil && !p.taken
}

// MatchesKey tells whether it is one for having the name of a private key, which Apple's
// Keynote gives to presentations.
func (s Patterns) MatchesKey(dir, name string) bool {
	p := s.last(dir, name)
	return p != nil && !p.taken && p.glob == keyFiles
}

// last is the last pattern that matches a file, nil if none does. Case is folded:
// "ID_RSA" is as secret as "id_rsa". A copy is as secret as the file that it was made of:
// only a pattern that names the copy takes it out.
func (s Patterns) last(dir, name string) *secretPattern {
	name = strings.ToLower(name)
	original := name
	for _, suffix := range copySuffixes {
		original = strings.TrimSuffix(original, suffix)
	}
	for i := len(s) - 1; i >= 0; i-- {
		p := &s[i]
		matches := p.matches(original) || original != name && (!p.taken || p.shape == wholeName) && p.matches(name)
		if matches && p.isIn(dir) {
			return p
		}
	}
	return nil
}

// matches tells whether a name is the pattern's, wherever it is.
func (p *secretPattern) matches(name string) bool {
	switch p.shape {
	case wholeName:
		return p.glob == name
	case headAndTail:
		return len(name) >= len(p.head)+len(p.tail) && strings.HasPrefix(name, p.head) && strings.HasSuffix(name, p.tail)
	}
	ok, err := path.Match(p.glob, name)
	return err == nil && ok
}

// isIn tells whether the pattern is for files in a directory of the workspace.
func (p *secretPattern) isIn(dir string) bool {
	if p.dir == "" {
		return !p.top || dir == ""
	}
	start := len(dir)
	for n := 0; n < p.deep && start >= 0; n++ {
		start = strings.LastIndexByte(dir[:start], '/')
	}
	if p.top && start >= 0 {
		return false
	}
	ok, err := path.Match(p.dir, strings.ToLower(dir[start+1:]))
	return err == nil && ok
}
