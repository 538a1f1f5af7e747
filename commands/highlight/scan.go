package highlight

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// longest is how long texts are scanned that are shown at once: what takes longer is
// not painted from there.
var longest = time.Second

// scan gives the pieces of a text, in order and without a gap, up to its end, to
// what the language can't go on with, or until a time.
func scan(language chroma.Lexer, text string, until time.Time, piece func(chroma.TokenType, string)) {
	defer func() { _ = recover() }() // rules that do not fit the text are told in panics
	next, err := language.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return
	}
	for t := next(); t != chroma.EOF && strings.HasPrefix(text, t.Value) && time.Now().Before(until); t = next() {
		text = text[len(t.Value):]
		piece(t.Type, t.Value)
	}
}
