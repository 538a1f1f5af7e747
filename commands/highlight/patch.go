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

	above int // of a hunk: how many lines of the old file come before it
}

// Source reports whether the line is one of a file, behind a sign.
func (l Line) Source() bool { return l.Kind == Context || l.Kind == Added || l.Kind == Removed }

// Known reports whether a line above a file's hunks says nothing that is not known from
// the file's name, its former one and how it has changed.
func (l Line) Known() bool {
	if l.Kind != Header {
		return false
	}
	for _, known := range []string{
		"diff --git ", "index ", "--- ", "+++ ", "rename ", "copy ", "similarity ", "dissimilarity ", "new file mode 100644", "deleted file mode ",
	} {
		if strings.HasPrefix(l.Text, known) {
			return true
		}
	}
	return l.Text == ""
}

// Begins is the numbers of the first lines of a hunk, in the file before and after.
func (l Line) Begins() (before, after int) {
	fields := strings.Fields(l.Text)
	if len(fields) < 4 {
		return 0, 0
	}
	before, _, _ = span(fields[1], "-")
	after, _, _ = span(fields[2], "+")
	return before, after
}

// Patch takes apart a unified diff as Git prints it. What a line is, is told by
// the counts of its hunk: a removed line may look like a header.
func Patch(patch string) []Line {
	var lines []Line
	file, header := -1, ""
	old, new := 0, 0 // lines that the hunk has yet of the two files
	for text := range strings.Lines(patch) {
		l := Line{Text: strings.TrimSuffix(text, "\n")}
		switch in := old > 0 || new > 0; {
		case in && strings.HasPrefix(text, "+"):
			l.Kind, new = Added, new-1
		case in && strings.HasPrefix(text, "-"):
			l.Kind, old = Removed, old-1
		case in && strings.HasPrefix(text, " "):
			l.Kind, old, new = Context, old-1, new-1
		case strings.HasPrefix(text, `\`):
			l.Kind = Note
		case strings.HasPrefix(text, "@@ "):
			l.Kind = Hunk
			l.above, old, new = ranges(text)
		default:
			old, new = 0, 0
			if strings.HasPrefix(text, "diff --git ") && text != header {
				file, header = file+1, text // one whose type changed is two times there
			}
		}
		l.File = file
		lines = append(lines, l)
	}
	return lines
}

// ranges reads the head of a hunk: @@ -FIRST,COUNT +FIRST,COUNT @@. It is how many
// lines of the old file come before the hunk, and how many it has of each; an empty
// range is told by the line before it. What is not so has none.
func ranges(text string) (above, old, new int) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return 0, 0, 0
	}
	first, old, oldErr := span(fields[1], "-")
	_, new, newErr := span(fields[2], "+")
	switch {
	case oldErr != nil || newErr != nil:
		return 0, 0, 0
	case old > 0:
		first--
	}
	return max(first, 0), old, new
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
