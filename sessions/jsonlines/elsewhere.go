package jsonlines

import (
	"bytes"
	"slices"
	"strings"
)

// mostWord is how much of the word that a path ends is looked at.
const mostWord = 1 << 10

// isMention reports whether the @ before b[i] names what follows as a file: of agents,
// @/a/b, and of curl, -d @/a/b.
func isMention(b []byte, i int) bool {
	return i > 0 && b[i-1] == '@' && startsPath(b, i-1)
}

// isElsewhere reports whether the path that begins at b[i] is one of another machine, as
// in host:/a/b, or of a container, as in -v data:/a/b and --mount type=…,target=/a/b.
func isElsewhere(b []byte, i int) bool {
	for escapes := 0; escapes < 2 && i > 0 && b[i-1] == '\\'; escapes++ {
		i-- // the slash's own escape
	}
	begin := wordBegin(b, i)
	before := string(b[begin:i])
	if mount, ok := strings.CutSuffix(before, "="); ok {
		return strings.Contains(before, "type=") && slices.ContainsFunc([]string{",target", ",dst", ",destination"}, func(key string) bool { return strings.HasSuffix(mount, key) })
	}
	parts, ok := strings.CutSuffix(before, ":")
	if !ok {
		return false
	}
	if isVolume(b[:begin], before) || strings.Contains(parts, "://") {
		return true
	}
	variable, value, ok := strings.Cut(parts, "=")
	if !ok {
		value = parts
	}
	switch {
	case strings.HasSuffix(variable, "PATH") || slices.Contains(labels, strings.ToLower(value)):
		return false
	}
	return value != "" && !strings.ContainsAny(value, ":/$~<>|;&()\\") && strings.Trim(value, "0123456789") != ""
}

// labels name the path that follows.
var labels = []string{"file", "path", "cwd", "pwd", "dir", "directory", "root", "workspace", "workdir", "project", "in", "at", "from", "to", "error", "warning", "note"}

// wordBegin is where the word that goes on at b[i] begins, of a shell or in quotes.
func wordBegin(b []byte, i int) int {
	at := i
	for at > max(0, i-mostWord) && strings.IndexByte(" \t\n\r\"'`[{(", b[at-1]) < 0 {
		at--
	}
	for _, escape := range []string{`\n`, `\r`, `\t`} {
		if n := bytes.LastIndex(b[at:i], []byte(escape)); n >= 0 {
			at += n + len(escape)
		}
	}
	return at
}

// isVolume reports whether a word is what a container's volume is: the value of -v, the
// next word or joined to it.
func isVolume(before []byte, word string) bool {
	if strings.HasPrefix(word, "--volume=") || strings.HasPrefix(word, "-v=") {
		return true
	}
	before = bytes.TrimRight(before, "\"'`\\")
	options := bytes.TrimRight(before, " ")
	return len(options) < len(before) && (bytes.HasSuffix(options, []byte(" -v")) || bytes.HasSuffix(options, []byte("--volume")))
}
