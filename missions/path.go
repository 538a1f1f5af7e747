package missions

import (
	"strconv"
	"unicode/utf8"
)

// Path is a path in a workspace, which may be any bytes. In JSON, and in a message, one that
// is not UTF-8 is in double quotes with Go's escapes: "caf\xe9.txt".
type Path string

// ParsePath is the path that a text stands for: one in double quotes, as String gives it and
// people see it, or the path itself.
func ParsePath(text string) Path {
	if len(text) > 1 && text[0] == '"' {
		if path, err := strconv.Unquote(text); err == nil {
			return Path(path)
		}
	}
	return Path(text)
}

// String is a text that stands for the path.
func (p Path) String() string {
	if utf8.ValidString(string(p)) && ParsePath(string(p)) == p {
		return string(p)
	}
	return strconv.Quote(string(p))
}

// MarshalText implements encoding.TextMarshaler.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Path) UnmarshalText(text []byte) error {
	*p = ParsePath(string(text))
	return nil
}
