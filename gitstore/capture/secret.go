package capture

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
)

// secrets are compiled patterns.
type secrets []secretPattern

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

// CheckSecrets reports the first pattern that is malformed, and so would match
// nothing.
func CheckSecrets(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(strings.TrimPrefix(pattern, "!"), ""); err != nil {
			return fmt.Errorf("secret pattern %q: %w", pattern, err)
		}
	}
	return nil
}

func compileSecrets(patterns []string) secrets {
	out := make(secrets, len(patterns))
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

// IsSecret tells whether the file at a path of the workspace is left out by patterns; see
// Settings.Secrets.
func IsSecret(patterns []string, file string) bool {
	return compileSecrets(patterns).match(parentOf(file), baseName(file))
}

// copySuffixes end the names of the copies that editors and people make of a file.
var copySuffixes = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".swp"}

// match tells whether a regular file is a secret. The last pattern that matches
// decides.
func (s secrets) match(dir, name string) bool {
	p := s.last(dir, name)
	return p != nil && !p.taken
}

// last is the last pattern that matches a file, nil if none does. Case is folded:
// "ID_RSA" is as secret as "id_rsa". A copy is as secret as the file that it was made of:
// only a pattern that names the copy takes it out.
func (s secrets) last(dir, name string) *secretPattern {
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

// keyFiles is the pattern of private keys that presentations share: Apple's Keynote
// writes files of the same name.
const keyFiles = "*.key"

// isSecret tells whether a regular file of a directory is a secret. One that has the
// name of a key, and is a ZIP archive (APPNOTE.TXT, 4.3.7), is a presentation.
func (w *walker) isSecret(s *scene, name string) bool {
	p := w.rules.secrets.last(s.at.path, name)
	return p != nil && !p.taken && (p.glob != keyFiles || !s.begins(name, "PK\x03\x04"))
}

// begins tells whether a file begins with a text; not if it can't be read.
func (s *scene) begins(name, text string) bool {
	f, _, err := s.dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(text))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(text))
}
