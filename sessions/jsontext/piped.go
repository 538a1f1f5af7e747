package jsontext

import (
	"strings"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// passwordReaders are in a command that reads a password from what is piped into it.
var passwordReaders = []string{"--password-stdin", "--with-token", "sudo -S", "sudo -kS", "chpasswd", "passwd --stdin", "-passin stdin", "-pass stdin"}

// mostPiped bounds how many pipes of a line are looked at, from its end.
const mostPiped = 64

// redactPiped redacts what echo or printf hands to a command that reads a password.
func redactPiped(line string) string {
	at := len(line)
	for range mostPiped {
		pipe := strings.LastIndexByte(line[:at], '|')
		if pipe < 0 {
			break
		}
		reader, _, _ := strings.Cut(line[pipe+1:], "|")
		begin := strings.LastIndexAny(line[:pipe], "|;&(`\n") + 1
		if readsPassword(reader) {
			kept := redactPrinted(line[begin:pipe], strings.Contains(reader, "chpasswd"))
			line = line[:begin] + kept + line[pipe:]
		}
		at = begin
	}
	return line
}

func readsPassword(command string) bool {
	command = strings.Join(strings.Fields(command), " ")
	for _, reader := range passwordReaders {
		if strings.Contains(command, reader) {
			return true
		}
	}
	return false
}

// redactPrinted redacts the words that an echo or printf prints; of a command among other
// words, what stands before it stays. Behind a user's name and a colon is the password where
// that is what is read.
func redactPrinted(command string, named bool) string {
	at := max(strings.LastIndex(command, "echo "), strings.LastIndex(command, "printf "))
	if at < 0 || at > 0 && strings.IndexByte(" \t\"'`", command[at-1]) < 0 {
		return command
	}
	at += strings.IndexByte(command[at:], ' ')
	var kept strings.Builder
	kept.WriteString(command[:at])
	for word := range strings.SplitAfterSeq(command[at:], " ") {
		text := strings.Trim(word, " \t\"'")
		user, password, pair := strings.Cut(text, ":")
		switch {
		case text == "" || secrets.IsPlaceholder(text) || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "%"):
		case named && pair:
			word = strings.Replace(word, text, user+":"+redactPassword(password), 1)
		default:
			word = strings.Replace(word, text, redactPassword(text), 1)
		}
		kept.WriteString(word)
	}
	return kept.String()
}
