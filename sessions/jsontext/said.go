package jsontext

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// RedactSaid is a text in a person's words with placeholders for what may be a secret in
// it: what secrets.Redact finds, a command that stands among the words (try mysql -pX), a
// variable that is called a password, and what the words themselves call one (the password
// is X).
func RedactSaid(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(string(secrets.Redact([]byte(text)))) {
		kept.WriteString(redactSaidLine(redactPiped(line)))
	}
	return string(secrets.Redact([]byte(kept.String())))
}

// RedactTyped is RedactLine of what may be a shell's line, and RedactSaid of what is left:
// quotes are read before words are taken for a person's.
func RedactTyped(text string) string {
	return RedactSaid(RedactLine(string(secrets.Redact([]byte(text)))))
}

const blanks = " \t\r\n"

func redactSaidLine(line string) string {
	var kept strings.Builder
	var said saidWords
	for i := 0; i < len(line); {
		start := len(line) - len(strings.TrimLeft(line[i:], blanks))
		end := len(line)
		if n := strings.IndexAny(line[start:], blanks); n >= 0 {
			end = start + n
		}
		kept.WriteString(line[i:start])
		word := said.redact(line[start:end])
		if word != line[start:end] {
			word, end = redactQuoted(line, start, end, word)
		}
		kept.WriteString(word)
		said.follow(line[start:end])
		i = end
	}
	return kept.String()
}

// mostQuoted is how far away a quote may be closed.
const mostQuoted = 1024

// redactQuoted is a redacted word with all that belongs to it by its quotes or backslashes,
// though there are blanks in it, and where that ends.
func redactQuoted(line string, start, end int, word string) (string, int) {
	const around = "`([{<*)]}>,.;!?"
	begin := start + len(line[start:end]) - len(strings.TrimLeft(line[start:end], around))
	whole := strings.TrimRight(readLineWord(line[:min(len(line), start+mostQuoted)], begin, ";&|()`"+blanks).raw, around)
	last := whole[max(0, len(whole)-1):]
	isQuoted := last == "'" || last == `"`
	if begin+len(whole) <= end || !isQuoted && strings.ContainsAny(whole, `'"`) {
		return word, end
	}
	word = word[:strings.LastIndex(word, leftOut)+len(leftOut)]
	if isQuoted && strings.Contains(word, last) {
		word += last
	}
	return word, begin + len(whole)
}

// saidWords is what the words before one say of it.
type saidWords struct {
	program, before string
	named           saidName // what the word may be
	told            bool     // and "is" or a colon stands between
}

type saidName int

const (
	saidNothing saidName = iota
	saidPassword
	saidSecret
)

const (
	openingMarks = "\"'`([{<*"
	closingMarks = "\"'`)]}>*,.;!?&|"
)

// splitMarks parts a word from what opens and closes around it.
func splitMarks(raw string) (marks, word, rest string) {
	word = strings.TrimLeft(raw, openingMarks)
	marks = raw[:len(raw)-len(word)]
	word = strings.TrimRight(word, closingMarks)
	return marks, word, raw[len(marks)+len(word):]
}

// redact is the next word without a secret.
func (s *saidWords) redact(raw string) string {
	marks, word, rest := splitMarks(raw)
	if word == "" || secrets.Count([]byte(raw)) > 0 {
		return raw
	}
	return marks + s.redactWord(word) + rest
}

func (s *saidWords) redactWord(word string) string {
	if kept := redactOwnOption(s.program, s.before, word); kept != word {
		before, _, _ := strings.Cut(kept, leftOut)
		if at := len(before); strings.IndexByte(`'"`, word[at]) >= 0 {
			return before + word[at:at+1] + kept[at:]
		}
		return kept
	}
	if at := strings.IndexAny(word, "=:"); at > 0 && at+1 < len(word) {
		key, value := word[:at+1], strings.TrimLeft(word[at+1:], openingMarks)
		key = word[:len(word)-len(value)]
		if name := word[:at]; isPasswordVariable(name) && word[at] == '=' || nameSaid(name) == saidPassword && secrets.MayBePassword([]byte(value)) || s.isCookie() && secrets.LooksDrawn([]byte(value)) {
			return key + redactPassword(value)
		}
		return redactForm(word)
	}
	value := []byte(word)
	switch s.named {
	case saidPassword:
		if secrets.MayBePassword(value) && (s.told || len(value) >= 8 && secrets.LooksDrawn(value)) {
			return leftOut
		}
	case saidSecret:
		if len(value) >= 16 && secrets.LooksDrawn(value) {
			return leftOut
		}
	}
	return word
}

// redactForm redacts a password among the fields of a form or of an address:
// a=b&password=c. A part that names nothing belongs to the field before it.
func redactForm(word string) string {
	var fields []string
	for part := range strings.SplitAfterSeq(word, "&") {
		if n := len(fields); n > 0 && !strings.Contains(part, "=") {
			fields[n-1] += part
			continue
		}
		fields = append(fields, part)
	}
	if len(fields) == 1 && !strings.Contains(word, "?") {
		return word
	}
	for i, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		name = name[strings.LastIndexByte(name, '?')+1:]
		end := ""
		if i < len(fields)-1 {
			value, end = strings.TrimSuffix(value, "&"), "&"
		}
		if ok && nameSaid(name) == saidPassword {
			fields[i] = field[:strings.IndexByte(field, '=')+1] + redactPassword(value) + end
		}
	}
	return strings.Join(fields, "")
}

// isCookie reports that the word before is the header that sends or sets one.
func (s *saidWords) isCookie() bool {
	return strings.HasSuffix(strings.ToLower(s.before), "cookie:")
}

// follow notes what a word says of the next one.
func (s *saidWords) follow(raw string) {
	_, word, rest := splitMarks(raw)
	if word == "" {
		s.told = s.told || strings.ContainsAny(raw, "=:")
		s.end(rest)
		return
	}
	lower := strings.ToLower(word)
	bare := strings.TrimRight(lower, ":=")
	switch {
	case s.named == saidNothing || !slices.Contains([]string{"", "is", "was", "to", "this", "->", "=>"}, bare):
		s.named, s.told = nameSaid(bare), bare != lower
	case bare != "to": // rename the password to password2
		s.told = true
	}
	s.program, s.before = nextProgram(s.program, s.before, word), word
	s.end(rest)
}

// end forgets the program where another sentence or command begins.
func (s *saidWords) end(marks string) {
	if strings.ContainsAny(marks, ".;!?&|") {
		s.program, s.before = "", ""
	}
}

// isPasswordVariable reports an assignment to a variable that holds a password, whatever
// that looks like.
func isPasswordVariable(name string) bool {
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return name == strings.ToUpper(name) && slices.ContainsFunc([]string{"PASSWORD", "PASSWD", "PASSPHRASE", "_PASS", "_PWD"}, ends)
}

// nameSaid is what a word says that stands for another.
func nameSaid(lower string) saidName {
	lower = strings.ToLower(lower)
	switch {
	case slices.Contains([]string{"password", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "kennwort", "contraseña", "senha"}, lower):
		return saidPassword
	case slices.Contains([]string{"key", "token", "secret", "credential", "credentials", "apikey", "api-key", "bearer", "_authtoken", "cookie"}, lower) || strings.HasSuffix(lower, ":_authtoken"):
		return saidSecret
	}
	return saidNothing
}
