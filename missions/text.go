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
