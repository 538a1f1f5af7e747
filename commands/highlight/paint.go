package highlight

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// What is scanned whole: files so large, so that a line inside a comment is known
// for one, and so much text in all. Of larger files the lines of each hunk are
// scanned as if they were a file, until that is too much as well.
const (
	mostBytes = 1 << 20
	mostLines = 20_000
	mostInAll = 1 << 20
)

// A File is what is to be known of one that a patch changes.
type File struct {
	Name string // of the later of the two
	// Before is its text before the change, empty where it was not there. It is
	// called once at most, and not for a file whose language is not known. nil, or
	// an error: it is not to be had.
	Before func() (string, error)
}

// A Painter says what is on the lines of patches, up to an amount and a time in all,
// so that a long log takes no longer than a person waits. Not for several goroutines.
type Painter struct {
	spent int       // bytes
	until time.Time // from the first lines on
}

// Paint gives the lines with their runs. The files are in the order of the patch.
func (p *Painter) Paint(lines []Line, files []File) []Line {
	if p.until.IsZero() {
		p.until = time.Now().Add(longest)
	}
	lines = slices.Clone(lines)
	var sheets []sheet
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].File == lines[from].File {
			to++
		}
		if n := lines[from].File; n >= 0 && n < len(files) {
			sheets = append(sheets, p.sheets(lines[from:to], files[n])...)
		}
		from = to
	}
	var turn sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range sheets {
		slots <- struct{}{}
		turn.Go(func() {
			s.paint(p.until)
			<-slots
		})
	}
	turn.Wait()
	return lines
}

// A sheet is text to be scanned as one, and the lines of the patch that are in it.
type sheet struct {
	name string
	text []string
	of   []*Line // for each, or nil
}

func (s *sheet) add(text string, l *Line) {
	s.text, s.of = append(s.text, text), append(s.of, l)
}

// trim takes away what comes after the last line that is wanted.
func (s *sheet) trim() {
	n := len(s.of)
	for n > 0 && s.of[n-1] == nil {
		n--
	}
	s.text, s.of = s.text[:n], s.of[:n]
}

func (s *sheet) size() int {
	n := len(s.text)
	for _, l := range s.text {
		n += len(l)
	}
	return n
}

func (s *sheet) paint(until time.Time) {
	for i, runs := range runsOf(s.name, s.text, until) {
		if l := s.of[i]; l != nil {
			l.Runs = runs
		}
	}
}

// sheets are what is to be scanned for one file: it as it was and as it became
// or, where that is too much or not to be had, each hunk.
func (p *Painter) sheets(lines []Line, f File) []sheet {
	if p.spent >= mostInAll || !time.Now().Before(p.until) || !mayKnow(f.Name) || !slices.ContainsFunc(lines, Line.Source) {
		return nil
	}
	for _, list := range [][]sheet{whole(lines, f), hunks(lines, f)} {
		size, fits := 0, len(list) > 0
		for i := range list {
			list[i].trim()
			n := list[i].size()
			size, fits = size+n, fits && n <= mostBytes && len(list[i].text) <= mostLines
		}
		if fits && p.spent+size <= mostInAll {
			p.spent += size
			return list
		}
	}
	return nil
}

// whole are the two files, which the patch makes one of from the other; nil where
// it does not fit.
func whole(lines []Line, f File) []sheet {
	if f.Before == nil {
		return nil
	}
	text, err := f.Before()
	if err != nil {
		return nil
	}
	was := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		was = nil
	}
	old, new := sheet{name: f.Name}, sheet{name: f.Name}
	at := 0 // lines of the old one that were gone through
	keep := func(to int) bool {
		for ; at < to; at++ {
			if at >= len(was) {
				return false
			}
			old.add(was[at], nil)
			new.add(was[at], nil)
		}
		return true
	}
	for i := range lines {
		l := &lines[i]
		if l.Kind == Hunk && !keep(l.above) {
			return nil
		}
		if l.Kind == Removed || l.Kind == Context {
			if at >= len(was) || was[at] != l.Text[1:] {
				return nil
			}
			at++
		}
		put(&old, &new, l)
	}
	return []sheet{old, new}
}

// hunks are the two sides of each hunk.
func hunks(lines []Line, f File) []sheet {
	var list []sheet
	old, new := sheet{name: f.Name}, sheet{name: f.Name}
	end := func() {
		list = append(list, old, new)
		old, new = sheet{name: f.Name}, sheet{name: f.Name}
	}
	for i := range lines {
		if lines[i].Kind == Hunk {
			end()
		}
		put(&old, &new, &lines[i])
	}
	end()
	return list
}

// put adds a line to the sides that it is on. One of both is looked up in the new.
func put(old, new *sheet, l *Line) {
	switch l.Kind {
	case Removed:
		old.add(l.Text[1:], l)
	case Added:
		new.add(l.Text[1:], l)
	case Context:
		old.add(l.Text[1:], nil)
		new.add(l.Text[1:], l)
	}
}
