package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
)

// contextLines is how many unchanged lines surround a change.
const contextLines = 3

// WriteDiff writes the difference of files as Git's unified diff, which git
// apply takes: paths quoted, modes, renames, object ids in full. Files that
// are binary or over 32 MiB are named as differing, without content, and cannot
// be applied.
func (o *Objects) WriteDiff(ctx context.Context, w io.Writer, files []FileStat) error {
	out := bufio.NewWriter(w)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.writeFileDiff(out, f.Rename); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (o *Objects) writeFileDiff(w *bufio.Writer, r Rename) error {
	if r.Type() == TypeChanged {
		// Git too writes a change of type as a deletion and an addition.
		gone, made := r, r
		gone.To, made.From = TreeEntry{}, TreeEntry{}
		if err := o.writeFileDiff(w, gone); err != nil {
			return err
		}
		return o.writeFileDiff(w, made)
	}
	old := r.Path
	if r.OldPath != "" {
		old = r.OldPath
	}
	fmt.Fprintf(w, "diff --git %s %s\n", QuotePath("a/"+old), QuotePath("b/"+r.Path))
	writeModes(w, r)
	if r.From.ID == r.To.ID {
		return nil
	}
	fmt.Fprintf(w, "index %s..%s", r.From.ID, r.To.ID)
	if r.From.Mode == r.To.Mode {
		fmt.Fprintf(w, " %s", r.To.Mode)
	}
	w.WriteByte('\n')
	from, to, binary, err := o.sides(r.Change)
	if err != nil {
		return err
	}
	a, b := headName("a/"+old, r.From), headName("b/"+r.Path, r.To)
	if binary {
		fmt.Fprintf(w, "Binary files %s and %s differ\n", a, b)
		return nil
	}
	x, y := splitLines(from), splitLines(to)
	if hunks := groupHunks(diffLines(x, y)); len(hunks) > 0 {
		fmt.Fprintf(w, "--- %s%s\n+++ %s%s\n", a, tabAfter(a), b, tabAfter(b))
		for _, h := range hunks {
			writeHunk(w, h, x, y)
		}
	}
	return nil
}

func writeModes(w *bufio.Writer, r Rename) {
	switch {
	case r.From.ID.IsZero():
		fmt.Fprintf(w, "new file mode %s\n", r.To.Mode)
	case r.To.ID.IsZero():
		fmt.Fprintf(w, "deleted file mode %s\n", r.From.Mode)
	case r.From.Mode != r.To.Mode:
		fmt.Fprintf(w, "old mode %s\nnew mode %s\n", r.From.Mode, r.To.Mode)
	}
	if r.OldPath != "" {
		fmt.Fprintf(w, "similarity index %d%%\nrename from %s\nrename to %s\n", r.Similarity, QuotePath(r.OldPath), QuotePath(r.Path))
	}
}

func headName(name string, e TreeEntry) string {
	if e.ID.IsZero() {
		return "/dev/null"
	}
	return QuotePath(name)
}

// tabAfter ends a name with spaces, so that its end is known, as Git does.
func tabAfter(name string) string {
	if name[0] != '"' && bytes.IndexByte([]byte(name), ' ') >= 0 {
		return "\t"
	}
	return ""
}

// groupHunks joins differences that are near one another, with their context.
func groupHunks(edits []edit) [][]edit {
	var hunks [][]edit
	var hunk []edit
	for i, e := range edits {
		if !e.equal {
			hunk = append(hunk, e)
			continue
		}
		n := e.aTo - e.aFrom
		head, tail := e, e
		tail.aTo = e.aFrom + min(n, contextLines)
		tail.bTo = e.bFrom + min(n, contextLines)
		head.aFrom, head.bFrom = e.aTo-min(n, contextLines), e.bTo-min(n, contextLines)
		switch {
		case len(hunk) == 0:
			hunk = append(hunk, head)
		case i == len(edits)-1:
			hunk = append(hunk, tail)
		case n > 2*contextLines:
			hunks = append(hunks, append(hunk, tail))
			hunk = []edit{head}
		default:
			hunk = append(hunk, e)
		}
	}
	for _, e := range hunk {
		if !e.equal {
			return append(hunks, hunk)
		}
	}
	return hunks
}

func writeHunk(w *bufio.Writer, hunk []edit, a, b [][]byte) {
	first, last := hunk[0], hunk[len(hunk)-1]
	fmt.Fprintf(w, "@@ -%s +%s @@\n", span(first.aFrom, last.aTo), span(first.bFrom, last.bTo))
	for _, e := range hunk {
		if e.equal {
			writeLines(w, ' ', a[e.aFrom:e.aTo])
			continue
		}
		writeLines(w, '-', a[e.aFrom:e.aTo])
		writeLines(w, '+', b[e.bFrom:e.bTo])
	}
}

func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprintf("%d", from+1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

func writeLines(w *bufio.Writer, sign byte, lines [][]byte) {
	for _, l := range lines {
		w.WriteByte(sign)
		w.Write(l)
		if !bytes.HasSuffix(l, []byte{'\n'}) {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
