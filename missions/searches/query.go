package searches

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/missions"
)

// query is what is looked for.
type query struct {
	words  []string // folded; each is somewhere in a text
	quoted []string // as they are
}

// parseQuery reads words and "quoted texts".
func parseQuery(typed string) (query, error) {
	var q query
	for i, part := range strings.Split(typed, `"`) {
		if i%2 == 0 {
			for _, word := range strings.Fields(part) {
				q.words = append(q.words, fold(word))
			}
		} else if part != "" {
			q.quoted = append(q.quoted, part)
		}
	}
	if len(q.words)+len(q.quoted) == 0 {
		return q, missions.Errorf(missions.KindUsage, `umbra search audit log, or umbra search '"exact text"'`, "there is nothing to search for")
	}
	return q, nil
}

// fold is a text without the difference of capitals. Every byte stays where it is: letters
// whose other form is of another length are left as they are.
func fold(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool { return unicode.ToLower(r) != r })
	if at < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:at]...)
	for i, r := range s[at:] {
		size := 1
		if r != utf8.RuneError {
			size = utf8.RuneLen(r)
		} else if strings.HasPrefix(s[at+i:], string(utf8.RuneError)) {
			size = len(string(utf8.RuneError))
		}
		if lower := unicode.ToLower(r); lower != r && utf8.RuneLen(lower) == size {
			out = utf8.AppendRune(out, lower)
		} else {
			out = append(out, s[at+i:at+i+size]...)
		}
	}
	return string(out)
}

// matches reports whether all that is looked for is in a text.
func (q query) matches(text string) bool {
	for _, exact := range q.quoted {
		if !strings.Contains(text, exact) {
			return false
		}
	}
	if len(q.words) == 0 {
		return true
	}
	folded := fold(text)
	for _, word := range q.words {
		if !strings.Contains(folded, word) {
			return false
		}
	}
	return true
}

// Around a match so many bytes of its line are told.
const (
	mostBefore = 80
	mostText   = 400
)

// line is the line of a text that has most of what is looked for, cut around the first of
// it, and its number from 1 on. A quoted text may go over several lines.
func (q query) line(text string) (line string, number int) {
	best := 0
	n := 0
	for one := range strings.Lines(text) {
		n++
		if have := q.count(one); have > best || number == 0 {
			line, number, best = one, n, have
		}
	}
	if best == 0 {
		for _, exact := range q.quoted {
			if at := strings.Index(text, exact); at >= 0 {
				from := strings.LastIndexByte(text[:at], '\n') + 1
				line, _, _ = strings.Cut(text[from:], "\n")
				number = strings.Count(text[:from], "\n") + 1
				break
			}
		}
	}
	line = strings.TrimSpace(line)
	from := max(0, q.first(line)-mostBefore)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	before, after := "", ""
	if from > 0 {
		before, line = "…", line[from:]
	}
	if len(line) > mostText {
		end := mostText
		for !utf8.RuneStart(line[end]) {
			end--
		}
		line, after = line[:end], "…"
	}
	return before + strings.ToValidUTF8(line, "\uFFFD") + after, number
}

// count is how many of the things that are looked for are in a line.
func (q query) count(line string) (n int) {
	for _, exact := range q.quoted {
		if strings.Contains(line, exact) {
			n++
		}
	}
	folded := fold(line)
	for _, word := range q.words {
		if strings.Contains(folded, word) {
			n++
		}
	}
	return n
}

// first is where the first match begins in a line, 0 if there is none.
func (q query) first(line string) int {
	first := len(line)
	for _, exact := range q.quoted {
		if at := strings.Index(line, exact); at >= 0 {
			first = min(first, at)
		}
	}
	folded := fold(line)
	for _, word := range q.words {
		if at := strings.Index(folded, word); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(line) {
		return 0
	}
	return first
}
