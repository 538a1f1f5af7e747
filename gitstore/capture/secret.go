package capture

import (
	"fmt"
	"path"
	"strings"
)

// secrets are compiled name patterns.
type secrets []secretPattern

type secretPattern struct {
	glob  string
	taken bool // "!": names that match are no secrets

	shape      secretShape
	head, tail string // of a glob whose only special character is a "*" between them
}

// secretShape tells how a pattern is matched: nearly all are simple, and each
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
		glob, taken := strings.CutPrefix(pattern, "!")
		p := secretPattern{glob: strings.ToLower(glob), taken: taken}
		switch head, tail, star := strings.Cut(p.glob, "*"); {
		case strings.ContainsAny(head+tail, `*?[\`):
		case star:
			p.shape, p.head, p.tail = headAndTail, head, tail
		default:
			p.shape = wholeName
		}
		out[i] = p
	}
	return out
}

// IsSecret tells whether a name is left out by patterns; see Settings.Secrets.
func IsSecret(patterns []string, name string) bool { return compileSecrets(patterns).match(name) }

// match tells whether the name of a regular file is that of a secret. The last
// pattern that matches decides. Case is folded: "ID_RSA" is as secret as
// "id_rsa".
func (s secrets) match(name string) bool {
	name = strings.ToLower(name)
	for i := len(s) - 1; i >= 0; i-- {
		if p := &s[i]; p.matches(name) {
			return !p.taken
		}
	}
	return false
}

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
