package history

import (
	"slices"
	"strings"
	"unicode"

	"github.com/umbra-vcs/umbra/commands/print"
)

// mostCompared bounds how many pairs of words one change is searched for what is
// common: about a millisecond. A larger one is shown as gone and new whole.
const mostCompared = 1 << 20

// writeWords prints a patch with changed words in their lines, in colour, or
// marked as git diff --word-diff does.
func writeWords(p *print.Printer, patch string) {
	var gone, made []string
	flush := func() {
		writeWordChange(p, gone, made)
		gone, made = nil, nil
	}
	hunk := false // within one
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if p.Terminal {
			line = print.CleanLines(line)
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			flush()
			hunk = true
			p.Line("%s", p.Paint(print.Cyan, line))
		case strings.HasPrefix(line, "diff "):
			flush()
			hunk = false
			p.Line("%s", p.Paint(print.Bold, line))
		case !hunk:
			p.Line("%s", p.Paint(print.Bold, line))
		case strings.HasPrefix(line, "-"):
			if len(made) > 0 {
				flush()
			}
			gone = append(gone, line[1:])
		case strings.HasPrefix(line, "+"):
			made = append(made, line[1:])
		case strings.HasPrefix(line, "\\"): // no newline at the end of the file: no word
		default:
			flush()
			p.Line("%s", strings.TrimPrefix(line, " "))
		}
	}
	flush()
}

// writeWordChange prints lines that became others.
func writeWordChange(p *print.Printer, gone, made []string) {
	if len(gone)+len(made) == 0 {
		return
	}
	var b strings.Builder
	for _, e := range wordEdits(wordsOf(gone), wordsOf(made)) {
		for piece := range strings.Lines(e.text) {
			word := strings.TrimSuffix(piece, "\n")
			if word != "" {
				b.WriteString(e.kind.mark(p, word))
			}
			b.WriteString(piece[len(word):])
		}
	}
	p.Write(strings.TrimSuffix(b.String(), "\n") + "\n")
}

// wordKind is what became of words.
type wordKind int

const (
	wordKept wordKind = iota
	wordGone
	wordMade
)

func (k wordKind) mark(p *print.Printer, text string) string {
	switch {
	case k == wordKept:
		return text
	case p.Color && k == wordGone:
		return p.Paint(print.Red, text)
	case p.Color:
		return p.Paint(print.Green, text)
	case k == wordGone:
		return "[-" + text + "-]"
	}
	return "{+" + text + "+}"
}

type wordEdit struct {
	kind wordKind
	text string
}

// wordsOf splits lines into words, runs of blanks and single other characters.
func wordsOf(lines []string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case r == ' ', r == '\t':
			return 2
		}
		return 0
	}
	var words []string
	for _, line := range lines {
		from, last := 0, 0
		for i, r := range line {
			c := class(r)
			if i > from && (c == 0 || c != last) {
				words = append(words, line[from:i])
				from = i
			}
			last = c
		}
		if from < len(line) {
			words = append(words, line[from:])
		}
		words = append(words, "\n")
	}
	return words
}

// wordEdits says how a became b, in runs: what is common is a longest sequence that
// both hold.
func wordEdits(a, b []string) []wordEdit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var edits []wordEdit
	add := func(kind wordKind, words ...string) {
		if len(words) == 0 {
			return
		}
		text := strings.Join(words, "")
		if n := len(edits); n > 0 && edits[n-1].kind == kind {
			edits[n-1].text += text
			return
		}
		edits = append(edits, wordEdit{kind, text})
	}
	add(wordKept, a[:head]...)
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	for _, pair := range commonWords(x, y) {
		add(wordGone, x[:pair[0]]...)
		add(wordMade, y[:pair[1]]...)
		if pair[0] < len(x) {
			add(wordKept, x[pair[0]])
			x, y = x[pair[0]+1:], y[pair[1]+1:]
		}
	}
	add(wordKept, a[len(a)-tail:]...)
	return edits
}

// commonWords are the words of a longest common sequence: how many words of each
// side stand before each, counted from the one before; at last how many stand
// behind them.
func commonWords(a, b []string) [][2]int {
	if len(a)*len(b) > mostCompared {
		return [][2]int{{len(a), len(b)}}
	}
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var pairs [][2]int
	fromA, fromB := 0, 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i - fromA, j - fromB})
			i, j = i+1, j+1
			fromA, fromB = i, j
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return slices.Concat(pairs, [][2]int{{len(a) - fromA, len(b) - fromB}})
}
