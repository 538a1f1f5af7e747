package jsontext

import "strings"

// passwordReaders are in a command that reads a password from what is piped into it.
var passwordReaders = []string{"--password-stdin", "--with-token", "sudo -S", "sudo -kS", "chpasswd", "passwd --stdin", "-passin stdin", "-pass stdin"}

// mostCommand is how much of a line is looked at for the commands behind an echo.
const mostCommand = 1024

// redactPiped redacts what echo or printf hands to a command that reads a password.
func redactPiped(line string) string {
	if !readsPassword(line) {
		return line
	}
	var kept strings.Builder
	for {
		begin := printerAt(line)
		if begin < 0 {
			break
		}
		printed, reader := printedWords(line[begin:min(len(line), begin+mostCommand)])
		kept.WriteString(line[:begin])
		done := begin
		for _, w := range printed {
			kept.WriteString(line[done : begin+w.start])
			done = begin + w.end
			if readsPassword(reader) {
				w.raw = w.redactPrinted(strings.Contains(reader, "chpasswd"))
			}
			kept.WriteString(w.raw)
		}
		line = line[done:]
	}
	kept.WriteString(line)
	return kept.String()
}

// printerAt is where the next echo or printf stands in a line, alone or behind its
// directory; -1 if none does.
func printerAt(line string) int {
	for end := range len(line) {
		if line[end] != ' ' {
			continue
		}
		for _, name := range []string{"echo", "printf"} {
			at := end - len(name)
			if strings.HasSuffix(line[:end], name) && (at == 0 || strings.IndexByte(blanks+"\"'`|;&(/", line[at-1]) >= 0) {
				return at
			}
		}
	}
	return -1
}

// printedWords are the words of the command that a line begins with, and the commands
// behind it in its pipe.
func printedWords(line string) (printed []lineWord, readers string) {
	pipe, end := 0, 0
	for w := range lineWords(line) {
		between := strings.Trim(line[end:w.start], " \t\r")
		if between == "|" || between == "|&" {
			pipe = max(pipe, end)
		} else if between != "" {
			break
		}
		if pipe == 0 {
			if w.text == "echo" || w.text == "printf" { // those before are a sentence's
				printed, w.first = nil, true
			}
			printed = append(printed, w)
		}
		end = w.end
	}
	if pipe == 0 {
		return printed, ""
	}
	return printed, line[printed[len(printed)-1].end:end]
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

// redactPrinted is a word that is printed without the password that it is, or that stands
// behind a user's name and a colon.
func (w lineWord) redactPrinted(named bool) string {
	user, password, pair := strings.Cut(w.text, ":")
	switch {
	case w.text == "" || w.first || strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "%"):
		return w.raw
	case named && pair:
		return w.redacted(user + ":" + redactPassword(password))
	}
	return w.redacted(redactPassword(w.text))
}

// redacted is the word as it is, or another text in its place.
func (w lineWord) redacted(text string) string {
	if text == w.text {
		return w.raw
	}
	return w.quoted(text)
}
