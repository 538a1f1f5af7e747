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
	return redactSaid(string(secrets.Redact([]byte(text))), saidWords{})
}

// RedactReported is RedactSaid of a text of which nobody keeps the original: only what the
// look, a variable, an option or a pipe says to be a secret is left out of it.
func RedactReported(text string) string {
	return redactSaid(string(secrets.Redact([]byte(text))), saidWords{reported: true})
}

// redactSaid redacts what secrets.Redact has left, each line's words from what is known
// before it.
func redactSaid(text string, words saidWords) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		kept.WriteString(words.redactLine(redactPiped(line)))
	}
	if kept.String() == text {
		return text
	}
	return string(secrets.Redact([]byte(kept.String())))
}

// RedactTyped is RedactLine of what may be a shell's line, and RedactSaid of what is left:
// quotes are read before words are taken for a person's.
func RedactTyped(text string) string {
	return redactSaid(RedactLine(string(secrets.Redact([]byte(text)))), saidWords{})
}

const blanks = " \t\r\n"

func (s saidWords) redactLine(line string) string {
	var kept strings.Builder
	for i := 0; i < len(line); {
		start := len(line) - len(strings.TrimLeft(line[i:], blanks))
		end := len(line)
		if n := strings.IndexAny(line[start:], blanks); n >= 0 {
			end = start + n
		}
		kept.WriteString(line[i:start])
		word := s.redact(line[start:end])
		if word != line[start:end] {
			word, end = redactQuoted(line, start, end, word)
		}
		kept.WriteString(word)
		s.follow(line[start:end])
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
	behind := strings.LastIndex(word, leftOut) + len(leftOut)
	if strings.ContainsAny(word[behind:], `'"`) { // it is closed
		return word, end
	}
	begin := start + len(line[start:end]) - len(strings.TrimLeft(line[start:end], around))
	whole := strings.TrimRight(readLineWord(line[:min(len(line), start+mostQuoted)], begin, ";&|()`"+blanks).raw, around)
	last := whole[max(0, len(whole)-1):]
	isQuoted := last == "'" || last == `"`
	if begin+len(whole) <= end || !isQuoted && strings.ContainsAny(whole, `'"`) {
		return word, end
	}
	word = word[:behind]
	if isQuoted && strings.Contains(word, last) {
		word += last
	}
	return word, begin + len(whole)
}

// saidWords is what the words before one say of it.
type saidWords struct {
	reported        bool // the words of RedactReported
	program, before string
	named           saidName // what the word may be
	told            bool     // and "is" or a colon stands between, or so says the verb
	option          bool     // it is an option that says it
	verb            int      // of how many words a verb before may say it
	between         int      // how many words may come that say what the password is for
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
	if s.option && strings.ContainsAny(marks, `'"`) {
		return marks + redactPassword(word) + rest
	}
	return marks + s.redactWord(word) + rest
}

func (s *saidWords) redactWord(word string) string {
	if kept := redactOwnOption(s.program, s.before, word); kept != word {
		before, _, _ := strings.Cut(kept, leftOut)
		if s.reported && isPlain(word[len(before):]) {
			return word
		}
		if at := len(before); strings.IndexByte(`'"`, word[at]) >= 0 {
			return before + word[at:at+1] + kept[at:]
		}
		return kept
	}
	if at := strings.IndexAny(word, "=:"); at > 0 && at+1 < len(word) {
		return s.redactKeyed(word, at)
	}
	if s.between > 0 || s.reported && !s.option {
		return word
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

// redactKeyed is a word whose name ends at a colon or an equals sign.
func (s *saidWords) redactKeyed(word string, at int) string {
	name := word[strings.LastIndexAny(word[:at], ",{")+1 : at]
	value := strings.TrimLeft(word[at+1:], openingMarks)
	key, rest := word[:len(word)-len(value)], ""
	if quote := key[len(key)-1]; quote == '"' || quote == '\'' {
		if end := strings.IndexByte(value, quote); end >= 0 {
			value, rest = value[:end], value[end:]
		}
	}
	isKey := isPasswordKey(name) && (!s.reported || word[at] == '=')
	if isPasswordVariable(name, value) && word[at] == '=' || isKey && secrets.MayBePassword([]byte(value)) || s.isCookie() && secrets.LooksDrawn([]byte(value)) {
		return key + redactPassword(value) + rest
	}
	if next := strings.IndexAny(word[at+1:], ",{") + 1; next > 0 {
		if more := strings.IndexAny(word[at+1+next:], "=:"); more > 0 && at+1+next+more+1 < len(word) {
			return word[:at+1+next] + s.redactKeyed(word[at+1+next:], more)
		}
	}
	return redactForm(word)
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

// isScheme reports a program that sentences name for its protocol.
func isScheme(program string) bool { return program == "http" || program == "https" }

// mostBetween bounds the words of "the password for the staging server is …".
const mostBetween = 5

// givingVerbs stand before a password that is given: log in with the password X.
var givingVerbs = []string{"set", "use", "using", "with", "enter", "type", "try", "change", "reset"}

// follow notes what a word says of the next one.
func (s *saidWords) follow(raw string) {
	_, word, rest := splitMarks(raw)
	if word == "" {
		s.told = s.told || strings.ContainsAny(raw, "=:")
		s.end(rest)
		return
	}
	lower := strings.ToLower(word)
	bare := strings.TrimRight(lower, ":=\"'`")
	named := nameSaid(word)
	if bare == "pass" && bare != lower && (s.before == "" || strings.ContainsAny(word, `"'`)) {
		named = saidPassword
	}
	is := slices.Contains([]string{"", "is", "was", "to", "this", "->", "=>"}, bare)
	switch {
	case s.named == saidPassword && (bare == "for" || bare == "of"):
		s.told, s.between = false, mostBetween
	case s.between > 0 && named == saidNothing:
		s.between--
		s.told = is || bare != lower
		if s.told || s.between == 0 || strings.ContainsAny(rest, ",.;!?") {
			s.between = 0
		}
		if !s.told && s.between == 0 {
			s.named = saidNothing
		}
	case s.named == saidNothing || !is:
		s.option = named == saidPassword && strings.HasPrefix(word, "-")
		s.named, s.told, s.between = named, bare != lower || s.option || named == saidPassword && s.verb > 0, 0
	case bare != "to": // rename the password to password2
		s.told = true
	}
	if s.verb--; slices.Contains(givingVerbs, lower) {
		s.verb = 3
	}
	program := nextProgram(s.program, s.before, word)
	if program == s.program && s.before == program && isScheme(program) && !strings.HasPrefix(word, "-") && word != strings.ToUpper(word) {
		program = "" // an http server, not http GET
	}
	s.program, s.before = program, word
	s.end(rest)
}

// end forgets the program where another sentence or command begins.
func (s *saidWords) end(marks string) {
	if strings.ContainsAny(marks, ".;!?&|") {
		s.program, s.before = "", ""
	}
}

// isPasswordVariable reports an assignment to a variable that holds a password, whatever
// that looks like; MAX_PASS=3 and MY_PWD=src are none.
func isPasswordVariable(name, value string) bool {
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	if name != strings.ToUpper(name) {
		return false
	}
	return slices.ContainsFunc([]string{"PASSWORD", "PASSWD", "PASSPHRASE", "MYSQL_PWD"}, ends) || (ends("_PASS") || ends("_PWD")) && !isPlain(value)
}

// isPlain reports a number, or a word of small letters.
func isPlain(value string) bool {
	value = strings.TrimRight(strings.TrimLeft(value, openingMarks), closingMarks)
	return strings.Trim(value, "0123456789.") == "" || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == ""
}

// passwordKeyEnds end the names of settings that hold a password.
var passwordKeyEnds = []string{"password", "passwd", "passphrase", "pass"}

// isPasswordKey reports a name before a colon or an equals sign that says that a password
// stands behind it: password, db_password, spring.datasource.password, dbPassword.
func isPasswordKey(name string) bool {
	return nameSaid(name) == saidPassword || strings.EqualFold(bareName(name), "pass")
}

func bareName(name string) string {
	return strings.TrimLeft(strings.Trim(name, "\"'`:="), "-")
}

// endsAsPassword reports a name of several words of which the last one is a password.
func endsAsPassword(name string) bool {
	for _, end := range passwordKeyEnds {
		n := len(name) - len(end)
		if n <= 0 || !strings.EqualFold(name[n:], end) {
			continue
		}
		before, first := name[n-1], name[n]
		return strings.IndexByte("_-.", before) >= 0 || 'A' <= first && first <= 'Z' && 'a' <= before && before <= 'z'
	}
	return false
}

// nameSaid is what a word says that stands for another.
func nameSaid(name string) saidName {
	name = bareName(name)
	lower := strings.ToLower(name)
	switch {
	case endsAsPassword(name) || slices.Contains([]string{"password", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "kennwort", "contraseña", "senha"}, lower):
		return saidPassword
	case slices.Contains([]string{"key", "token", "secret", "credential", "credentials", "apikey", "api-key", "bearer", "_authtoken", "cookie"}, lower) || strings.HasSuffix(lower, ":_authtoken"):
		return saidSecret
	}
	return saidNothing
}

// OmitLikePasswords is a text without the words of letters and digits that stand behind one
// that says password, or in it: for a name, of which nothing is lost by a word less.
func OmitLikePasswords(text string) string {
	var kept strings.Builder
	said := false
	for len(text) > 0 {
		start := len(text) - len(strings.TrimLeft(text, blanks))
		end := len(text)
		if n := strings.IndexAny(text[start:], blanks); n >= 0 {
			end = start + n
		}
		word := strings.ToLower(text[start:end])
		_, name, _ := splitMarks(text[start:end])
		if at := strings.IndexAny(name, "=:"); at >= 0 {
			name = name[:at]
		}
		said = said || strings.Contains(word, "passw") || strings.Contains(word, "passphrase") || nameSaid(name) == saidPassword
		if !said || !strings.ContainsAny(word, "0123456789") || !strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") {
			kept.WriteString(text[start:end])
		}
		kept.WriteByte(' ')
		text = text[end:]
	}
	return kept.String()
}
