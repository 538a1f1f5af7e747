package capture

import (
	"fmt"
	"path"
	"strings"
)

// secrets are compiled name patterns.
type secrets []secretPattern

type secretPattern struct {
	glob    string
	literal bool
	taken   bool // "!": names that match are no secrets
}

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
		out[i] = secretPattern{
			glob: strings.ToLower(glob), taken: taken,
			literal: !strings.ContainsAny(glob, `*?[\`),
		}
	}
	return out
}

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
	if p.literal {
		return p.glob == name
	}
	ok, err := path.Match(p.glob, name)
	return err == nil && ok
}
