package sessions

import (
	"regexp"
	"sync"
)

// StripEscapes is a text without the sequences that colour or move what a terminal shows
// (ECMA-48): their printable rest goes with them. Of a sequence that does not end in its
// line nothing is taken, so that no text is lost behind it.
func StripEscapes(text string) string { return escapePattern().ReplaceAllLiteralString(text, "") }

// escapePattern matches a control sequence (CSI), a control string (OSC, DCS, SOS, PM, APC)
// with its end, and any other escape sequence.
var escapePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
		`|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)` +
		`|\x1b[ -/]*[0-OQ-WYZ\\` + "`" + `-~]`)
})
