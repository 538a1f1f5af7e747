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
	word := string(b[begin:i])
	if mount, ok := strings.CutSuffix(word, "="); ok {
		isTarget := func(key string) bool { return strings.HasSuffix(mount, key) }
		return strings.Contains(word, "type=") && slices.ContainsFunc([]string{",target", ",dst", ",destination"}, isTarget)
	}
	name, ok := strings.CutSuffix(word, ":")
	if !ok {
		return false
	}
	if slices.Contains(labels, strings.ToLower(name)) {
		return false
	}
	line := lineBefore(b, begin)
	if isVolume(line, word) || isListedVolume(b, begin) || strings.Contains(name, "://") {
		return true
	}
	if variable, value, ok := strings.Cut(name, "="); ok {
		if strings.HasSuffix(variable, "PATH") {
			return false
		}
		name = value
	}
	return isHost(name) || isForeignWord(name) && copiesElsewhere(line)
}

// labels are words that a text puts before a path of this machine, in a command's output too.
var labels = []string{"cwd", "file", "path", "dir", "at", "in", "from", "to", "see", "error", "warning"}

// hostWords are words of which one in a name says that it is a host's or a container's.
var hostWords = []string{"host", "localhost", "server", "remote", "container"}

// isHost reports a name that is a host's wherever it stands: behind a user's name, an
// address, or one that says so. Any other word before a colon may be a sentence's.
func isHost(name string) bool {
	if strings.HasSuffix(name, "]") {
		return strings.Contains(name, ":") // [::1], but not [ERROR]
	}
	user, host, ok := strings.Cut(name, "@")
	switch {
	case name == "" || strings.ContainsAny(name, ":/$~<>|;&()\\"):
		return false
	case ok:
		return user != "" && host != ""
	case len(name) == 1, strings.Count(name, ".") > 1: // a drive; a name with one dot may be a file's
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(hostWords, word) })
}

// isForeignWord reports what is a host or a container where such a one is expected: no path
// of this machine, and no number.
func isForeignWord(name string) bool {
	return name != "" && strings.IndexByte("/.~$", name[0]) < 0 && strings.Trim(name, "0123456789") != ""
}

// copiers are programs that take paths of other machines or of containers.
var copiers = []string{"scp", "rsync", "sftp", "sshfs", "rclone", "mount", "git", "docker", "podman", "nerdctl", "kubectl", "oc"}

// copiesElsewhere reports whether a command has called one of the copiers.
func copiesElsewhere(line []byte) bool {
	words := bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"'`\\(/", r) })
	return slices.ContainsFunc(words, func(word []byte) bool { return slices.Contains(copiers, string(word)) })
}

// lineBreaks end a line or a command, plain and in JSON, or a text in JSON.
var lineBreaks = []string{"\n", `\n`, `\r`, ";", "|", "&", `","`, `":"`}

// lineBefore is what stands before b[i] in its line, of a shell's command no more than that.
// Lines that a backslash joins are one.
func lineBefore(b []byte, i int) []byte {
	at := max(0, i-mostWord)
	for _, end := range lineBreaks {
		stop := i
		for {
			n := bytes.LastIndex(b[at:stop], []byte(end))
			if n < 0 {
				break
			}
			stop = at + n
			if stop > 0 && b[stop-1] == '\\' && end[len(end)-1] != '"' {
				continue
			}
			at = stop + len(end)
			break
		}
	}
	return b[at:i]
}

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
func isVolume(line []byte, word string) bool {
	if strings.HasPrefix(word, "--volume=") || strings.HasPrefix(word, "-v=") {
		return true
	}
	line = bytes.TrimRight(line, "\"'`\\")
	before := bytes.TrimRight(line, " ")
	return len(before) < len(line) && (bytes.HasSuffix(before, []byte(" -v")) || bytes.HasSuffix(before, []byte("--volume")))
}

// isListedVolume reports whether the word at b[begin] is an item of a list of volumes in
// YAML: all lines between it and the line "volumes:" are items too. Any other list is text.
func isListedVolume(b []byte, begin int) bool {
	at := max(0, begin-mostWord)
	text := strings.NewReplacer(`\r`, "", "\r", "", `\n`, "\n", `\"`, `"`).Replace(string(b[at:begin]))
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		switch {
		case i == len(lines)-1 && strings.TrimRight(line, "\"' ") != "-":
			return false
		case line == "volumes:" || strings.HasSuffix(line, `"volumes:`):
			return true
		case line != "" && line[0] != '-' && line[0] != '#':
			return false
		}
	}
	return false
}
