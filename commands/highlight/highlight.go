// Package highlight says what the pieces of source code are, by the name of its
// file, and how they are painted: alone, or in the lines of a patch. Its languages
// are chroma's; see lexers.
//
// Nothing of it is done before it is used, and its functions may be called by
// several goroutines at once.
package highlight

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// Class is what a piece of source is.
type Class uint8

// The classes; Plain is all that is none of the others.
const (
	Plain Class = iota
	Keyword
	Type
	Function
	String
	Number
	Comment
)

// A Run is so many bytes of a line that are of one class.
type Run struct {
	Len   int
	Class Class
}

// Source is what the lines of a file are: for each its runs, without its end. It
// is nil if the language is not known, or the text is none that is worth its time.
func Source(name, text string) [][]Run {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(text) > mostBytes || len(lines) > mostLines {
		return nil
	}
	return runsOf(name, lines, time.Now().Add(longest))
}

// runsOf is Source for lines that may end in a carriage return. Where the language
// can't go on, or the time is over, the lines from there have no runs.
func runsOf(name string, lines []string, until time.Time) [][]Run {
	if len(lines) == 0 {
		return nil
	}
	bare := make([]string, len(lines))
	for i, l := range lines {
		bare[i] = strings.TrimSuffix(l, "\r")
	}
	text := strings.Join(bare, "\n") + "\n"
	if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return nil
	}
	l, err := languageOf(name, lines[0])
	if l == nil || err != nil {
		return nil
	}
	runs := make([][]Run, len(lines))
	at := 0
	scan(l, text, until, func(kind chroma.TokenType, piece string) {
		class := classOf(kind)
		for piece != "" && at < len(runs) {
			head, rest, ended := strings.Cut(piece, "\n")
			runs[at] = extend(runs[at], Run{len(head), class})
			if ended {
				at++
			}
			piece = rest
		}
	})
	return runs
}

// extend adds a run, to the last one if that is of the same class.
func extend(runs []Run, r Run) []Run {
	switch n := len(runs) - 1; {
	case r.Len == 0:
		return runs
	case n >= 0 && runs[n].Class == r.Class:
		runs[n].Len += r.Len
		return runs
	}
	return append(runs, r)
}

// classes are the classes of chroma's types, the more special ones first.
var classes = [...]struct {
	kinds []chroma.TokenType
	class Class
}{
	{[]chroma.TokenType{chroma.KeywordType}, Type},
	{[]chroma.TokenType{chroma.KeywordConstant, chroma.NameConstant, chroma.NameEntity}, Number},
	{[]chroma.TokenType{chroma.CommentPreprocFile}, String},
	{[]chroma.TokenType{chroma.CommentPreproc, chroma.NameTag, chroma.NameBuiltinPseudo, chroma.OperatorWord, chroma.GenericHeading, chroma.GenericSubheading}, Keyword},
	{[]chroma.TokenType{chroma.NameClass, chroma.NameException, chroma.NameVariable, chroma.NameVariableGlobal, chroma.NameVariableInstance}, Type},
	{[]chroma.TokenType{chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameBuiltin, chroma.NameDecorator, chroma.NameAttribute}, Function},
}

func classOf(kind chroma.TokenType) Class {
	for _, c := range &classes {
		if slices.Contains(c.kinds, kind) {
			return c.class
		}
	}
	switch {
	case kind.InCategory(chroma.Comment):
		return Comment
	case kind.InCategory(chroma.Keyword):
		return Keyword
	case kind.InSubCategory(chroma.LiteralString):
		return String
	case kind.InSubCategory(chroma.LiteralNumber), kind == chroma.LiteralDate:
		return Number
	}
	return Plain
}
