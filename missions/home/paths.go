package home

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// ShellQuote makes a word that a shell takes as it is: in quotes if it holds anything but
// what needs none, as Python's shlex.quote has it.
func ShellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// ShellCommand is a command as one types it in a shell.
func ShellCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = ShellQuote(word)
	}
	return strings.Join(quoted, " ")
}

// RemovalCommand is a command that removes a directory, for a user to type: what is
// mounted there is somebody else's, and is taken out first.
func RemovalCommand(dir, remove string) string {
	mounts := beneath.MountsIn(dir)
	if len(mounts) == 0 {
		return remove
	}
	slices.Reverse(mounts) // what is mounted last goes first
	return ShellCommand(append([]string{"umount"}, mounts...)) + " && " + remove
}

// IsWithin reports whether path is dir or below it. Both are clean.
func IsWithin(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// IsThere reports whether something is at the path, a link that leads nowhere too. What
// can't be asked for may be there.
func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
