package jsontext

import (
	"path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// mostNested bounds how deep a command line in a word of another one is looked into, as
// in sh -c "…".
const mostNested = 3

// RedactLine is a line that is meant for a shell with placeholders for what may be a
// secret in it, as RedactCommand leaves them in the words of a command. What a shell puts
// something else in the place of stays: --token "$TOKEN". The text may be of anything
// else, such as a file's path.
func RedactLine(line string) string { return redactLine(line, mostNested) }

func redactLine(line string, nested int) string {
	var kept strings.Builder
	done := 0
	var program, before string
	for w := range lineWords(line) {
		if w.first {
			program, before = "", ""
		}
		if redacted := w.redact(program, before, nested); redacted != w.text {
			kept.WriteString(line[done:w.start])
			kept.WriteString(w.quoted(redacted))
			done = w.end
		}
		program, before = nextProgram(program, before, w.text), w.text
	}
	kept.WriteString(line[done:])
	return string(secrets.Redact([]byte(kept.String())))
}

// lineWord is a word of a shell's line.
type lineWord struct {
	text       string // without its quotes
	start, end int    // where it stands, with its quotes
	first      bool   // it begins a command
	quote      byte   // what stands around it, 0 if not around all of it
}

// lineWords are the words of a line, as shells part them.
func lineWords(line string) func(yield func(lineWord) bool) {
	const separators = ";&|()\n`"
	return func(yield func(lineWord) bool) {
		first := true
		for i := 0; i < len(line); {
			switch c := line[i]; {
			case strings.IndexByte(separators, c) >= 0:
				first = true
				i++
				continue
			case strings.IndexByte(" \t\r", c) >= 0:
				i++
				continue
			}
			w := readLineWord(line, i, separators+" \t\r")
			w.first, first = first, false
			if i = w.end; !yield(w) {
				return
			}
		}
	}
}

// readLineWord reads the word that begins at start and ends before one of the bytes,
// unless they are in quotes or behind a backslash.
func readLineWord(line string, start int, ends string) lineWord {
	w := lineWord{start: start}
	var text strings.Builder
	i, quote := start, byte(0)
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(line) && (quote == 0 || strings.IndexByte("\"\\$`", line[i+1]) >= 0):
			i++
			if line[i] != '\n' {
				text.WriteByte(line[i])
			}
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && strings.IndexByte(ends, c) >= 0:
			w.text, w.end = text.String(), i
			return w.noteQuote(line)
		default:
			text.WriteByte(c)
		}
	}
	w.text, w.end = text.String(), len(line)
	return w.noteQuote(line)
}

// noteQuote finds the quotes that stand around the whole word, and no others in it.
func (w lineWord) noteQuote(line string) lineWord {
	raw := line[w.start:w.end]
	if len(raw) > 1 && (raw[0] == '"' || raw[0] == '\'') && strings.IndexByte(raw[1:], raw[0]) == len(raw)-2 {
		w.quote = raw[0]
	}
	return w
}

// quoted is another text in the place of the word's.
func (w lineWord) quoted(text string) string {
	switch quote := string(w.quote); {
	case w.quote != 0:
		return quote + text + quote
	case strings.ContainsAny(text, " \t\n;&|()'`"):
		return `"` + text + `"`
	}
	return text
}

// redact is the word without a secret, given the program whose word it is and the word
// before it.
func (w lineWord) redact(program, before string, nested int) string {
	if kept := redactOwnOption(program, before, w.text); kept != w.text {
		return kept
	}
	kept := redactWord(before, w.text)
	name, _, isHeader := strings.Cut(w.text, ":")
	isHeader = isHeader && isSettingName(name) && strings.HasSuffix(strings.ToLower(name), "authorization")
	if isHeader {
		kept = redactHeader(w.text)
	}
	switch {
	case kept != w.text && !w.isReplaced(kept):
		return kept
	case !isHeader && nested > 0 && w.quote != 0 && strings.ContainsAny(w.text, " \t\n"):
		return redactLine(w.text, nested-1)
	}
	return w.text
}

// isReplaced reports whether what was left out of a word is a variable, a command, or
// the name of what is to be put there: no secret.
func (w lineWord) isReplaced(kept string) bool {
	hole := strings.Index(kept, leftOut)
	if hole < 0 || !strings.HasPrefix(w.text, kept[:hole]) {
		return false
	}
	value := strings.TrimSuffix(w.text[hole:], kept[hole+len(leftOut):])
	isTable := value != "" && strings.IndexByte("{[", value[0]) >= 0 && strings.ContainsAny(value, ":=")
	return !isTable && !isGiven(value)
}

func isGiven(value string) bool { return secrets.IsGiven([]byte(strings.Trim(value, ` "'`))) }

// secretOptions are the short options by which programs take a password: of next it is
// the next word or joined to the option, of joined only joined, and of user it is what
// stands behind the user's name and a colon. The programs' manuals say so.
var secretOptions = []struct {
	programs           []string
	next, joined, user string
}{
	{programs: []string{"sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "login"}, next: "p"},
	{programs: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami"}, next: "w"},
	{programs: []string{"mysql", "mariadb", "mysqldump", "mariadb-dump", "mysqladmin", "mysqlimport", "7z", "7za"}, joined: "p"},
	{programs: []string{"redis-cli"}, next: "a"},
	{programs: []string{"sqlcmd", "bcp", "zip", "unzip"}, next: "P"},
	{programs: []string{"curl"}, user: "uU"},
	{programs: []string{"http", "https", "xh", "xhs"}, user: "a"},
}

// longUserOptions take a user and a password.
var longUserOptions = []string{"--user", "--proxy-user", "--auth", "--creds"}

// wrappers run the program that they are given.
var wrappers = []string{"sudo", "doas", "env", "time", "exec", "nohup", "command", "xargs", "nice"}

// nextProgram is the program whose options the words behind a word are: that of login
// for docker login, helm registry login and others, whose -p is a port elsewhere.
func nextProgram(program, before, word string) string {
	switch {
	case program == "" || program == "sshpass" && before != "-p" || slices.Contains(wrappers, program):
		if isOption(word) || strings.Contains(word, "=") {
			return program
		}
		return path.Base(word)
	case word == "login":
		return word
	}
	return program
}

// redactOwnOption redacts what an option that takes a password in this program, and
// seldom in another, is given.
func redactOwnOption(program, before, word string) string {
	for _, o := range secretOptions {
		if !slices.Contains(o.programs, program) {
			continue
		}
		option, value := splitShort(word)
		last, none := splitShort(before)
		switch {
		case value != "" && isOneOf(option, o.next+o.joined):
			return word[:2] + redactPassword(value)
		case value != "" && isOneOf(option, o.user):
			return word[:2] + redactUser(value)
		case none == "" && isOneOf(last, o.next):
			return redactPassword(word)
		case none == "" && isOneOf(last, o.user), slices.Contains(longUserOptions, before):
			return redactUser(word)
		}
	}
	return word
}

// splitShort is a short option and what is joined to it; "" if the word is none.
func splitShort(word string) (option, value string) {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return "", ""
	}
	return word[1:2], word[2:]
}

func isOneOf(option, options string) bool { return option != "" && strings.Contains(options, option) }

func redactPassword(value string) string {
	if secrets.IsPlaceholder(value) || !isGiven(value) {
		return value
	}
	return leftOut
}

// redactUser redacts the password behind a user's name.
func redactUser(value string) string {
	user, password, ok := strings.Cut(value, ":")
	if !ok || user == "" && password == "" {
		return value
	}
	return user + ":" + redactPassword(password)
}
