package sessions

import (
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// DashedName is a directory's name as several agents call it: every UTF-16 code unit of its
// path that is no ASCII letter or digit becomes a dash. Not invertible.
func DashedName(dir string) string {
	units := utf16.Encode([]rune(dir))
	b := make([]byte, len(units))
	for i, u := range units {
		b[i] = '-'
		if '0' <= u && u <= '9' || 'a' <= u && u <= 'z' || 'A' <= u && u <= 'Z' {
			b[i] = byte(u)
		}
	}
	return string(b)
}

// Expand is a path in the environment or in settings, of which an agent allows ~.
func (env Environ) Expand(dir string) string {
	if below, ok := strings.CutPrefix(dir, "~"); ok && (below == "" || below[0] == '/') {
		dir = env.Home + below
	}
	return filepath.Clean(dir)
}
