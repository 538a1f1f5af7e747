package jsontext

import (
	"encoding/json"
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
		if redacted := w.redact(program, before, nested); redacted != w.raw {
			kept.WriteString(line[done:w.start])
			kept.WriteString(redacted)
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
	raw        string // with them
	start, end int    // where it stands, with its quotes
	first      bool   // it begins a command
	quote      byte   // what stands around it, or around its end; 0 for nothing
	quoteAt    int    // where its quotes begin
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

// noteQuote finds the quotes that stand around the whole word, or around what a variable
// or an option is given, and no others in it.
func (w lineWord) noteQuote(line string) lineWord {
	w.raw = line[w.start:w.end]
	at := strings.IndexAny(w.raw, "\"'\\")
	if at < 0 || w.raw[at] == '\\' || at > 0 && w.raw[at-1] != '=' {
		return w
	}
	if end := strings.IndexByte(w.raw[at+1:], w.raw[at]); end >= 0 && at+1+end == len(w.raw)-1 {
		w.quote, w.quoteAt = w.raw[at], at
	}
	return w
}

// quoted is another text in the place of the word's.
func (w lineWord) quoted(text string) string {
	switch quote := string(w.quote); {
	case w.quote != 0 && w.quoteAt == 0:
		return quote + text + quote
	case strings.ContainsAny(text, " \t\n;&|()'`"):
		return `"` + text + `"`
	}
	return text
}

// redact is the word, in its quotes, without a secret, given the program whose word it is
// and the word before it.
func (w lineWord) redact(program, before string, nested int) string {
	if kept := redactOwnOption(program, before, w.text); kept != w.text {
		return w.quoted(kept)
	}
	kept := redactWord(before, w.text)
	name, _, isHeader := strings.Cut(w.text, ":")
	isHeader = isHeader && isSettingName(name) && strings.HasSuffix(strings.ToLower(name), "authorization")
	if isHeader {
		kept = redactHeader(w.text)
	}
	if kept != w.text && !w.isReplaced(kept) {
		return w.quoted(kept)
	}
	inner := w.text[w.quoteAt:]
	if isHeader || nested == 0 || w.quote == 0 || !strings.ContainsAny(inner, " \t\n") || isRedactedJSON(inner) {
		return w.raw
	}
	if kept := redactLine(inner, nested-1); kept != inner {
		return w.raw[:w.quoteAt+1] + kept + string(w.quote)
	}
	return w.raw
}

// isRedactedJSON reports JSON that has been read and redacted: its words are no shell's.
func isRedactedJSON(text string) bool {
	return secrets.Count([]byte(text)) > 0 && json.Valid([]byte(text))
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
