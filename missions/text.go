package missions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Itoa is strconv.Itoa.
func Itoa(n int) string { return strconv.Itoa(n) }

// OneLine joins what happened and its text for a snapshot's subject.
func OneLine(what, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return what
	}
	return what + ": " + text
}

// ErrorLine is an agent's error on one line. What most APIs are quoted with says already
// that it is one.
func ErrorLine(message string) string {
	if strings.HasPrefix(message, "API Error") {
		return strings.Join(strings.Fields(message), " ")
	}
	return OneLine("error", message)
}

// NameSome names the first of some paths, and says how many more there are.
func NameSome(paths []string) string {
	const most = 3
	if more := len(paths) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// MaxPromptBytes bounds the prompt that a mission's record repeats, in bytes. The
// whole one is in the record of its turn's snapshots.
const MaxPromptBytes = 4096

// TruncateText is as much of a text as fits into so many bytes.
func TruncateText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

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
