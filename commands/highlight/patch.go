package highlight

import (
	"strconv"
	"strings"
)

// Kind is what a line of a patch is.
type Kind uint8

// The kinds of lines.
const (
	Header  Kind = iota // of a file: diff, index, ---, +++ and the like
	Hunk                // where a hunk is: @@
	Context             // in both files
	Added
	Removed
	Note // \ No newline at end of file
)

// Line is a line of a patch.
type Line struct {
	Kind Kind
	Text string // without its end; from Context to Removed it begins with a sign
	File int    // how many files come before its own; -1 above all
	Runs []Run  // of the text behind the sign; what they do not reach is Plain

	old, new int // its number in the two files, 0 for none; of a hunk, of the line before it
}

// Source reports whether the line is one of a file, behind a sign.
func (l Line) Source() bool { return l.Kind == Context || l.Kind == Added || l.Kind == Removed }

// Patch takes apart a unified diff as Git prints it. What a line is, is told by
// the counts of its hunk: a removed line may look like a header.
func Patch(patch string) []Line {
	var lines []Line
	file, header := -1, ""
	var old, new, oldLeft, newLeft int
	for text := range strings.Lines(patch) {
		l := Line{Text: strings.TrimSuffix(text, "\n")}
		switch in := oldLeft > 0 || newLeft > 0; {
		case in && strings.HasPrefix(text, "+"):
			l.Kind, l.new = Added, new
			new, newLeft = new+1, newLeft-1
		case in && strings.HasPrefix(text, "-"):
			l.Kind, l.old = Removed, old
			old, oldLeft = old+1, oldLeft-1
		case in && strings.HasPrefix(text, " "):
			l.Kind, l.old, l.new = Context, old, new
			old, new, oldLeft, newLeft = old+1, new+1, oldLeft-1, newLeft-1
		case strings.HasPrefix(text, `\`):
			l.Kind = Note
		case strings.HasPrefix(text, "@@ "):
			l.Kind = Hunk
			old, oldLeft, new, newLeft = ranges(text)
			l.old, l.new = before(old, oldLeft), before(new, newLeft)
		default:
			oldLeft, newLeft = 0, 0
			if strings.HasPrefix(text, "diff --git ") && text != header {
				file, header = file+1, text // one whose type changed is two times there
			}
		}
		l.File = file
		lines = append(lines, l)
	}
	return lines
}

// ranges are the numbers in the head of a hunk: @@ -OLD,COUNT +NEW,COUNT @@. What
// is not so has none.
func ranges(text string) (old, oldCount, new, newCount int) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return 0, 0, 0, 0
	}
	old, oldCount, oldErr := span(fields[1], "-")
	new, newCount, newErr := span(fields[2], "+")
	if oldErr != nil || newErr != nil {
		return 0, 0, 0, 0
	}
	return old, oldCount, new, newCount
}

// span reads FIRST,COUNT behind a sign; a count of one is left out.
func span(field, sign string) (at, count int, err error) {
	first, second, counted := strings.Cut(strings.TrimPrefix(field, sign), ",")
	if at, err = strconv.Atoi(first); err != nil || !counted {
		return at, 1, err
	}
	count, err = strconv.Atoi(second)
	return at, count, err
}

// before is how many lines come before a range; an empty one is told by the line
// before it.
func before(first, count int) int {
	if count == 0 {
		return first
	}
	return max(first-1, 0)
}
