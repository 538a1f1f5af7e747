package gitstore

import (
	"fmt"
	"strings"
)

// cEscapes are the short escapes of Git's C-style quoting (quote.c).
const (
	cEscaped = "\a\b\t\n\v\f\r\"\\"
	cLetters = "abtnvfr\"\\"
)

// QuotePath gives a path as Git prints it with core.quotePath on: unchanged if
// it holds only printable ASCII other than `"` and `\`, else in double quotes
// with C escapes.
func QuotePath(path string) string {
	plain := true
	for i := range len(path) {
		if c := path[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return path
	}
	return QuoteC(path)
}

// QuoteC is QuotePath that quotes whatever it is given.
func QuoteC(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		if at := strings.IndexByte(cEscaped, c); at >= 0 {
			b.WriteByte('\\')
			b.WriteByte(cLetters[at])
		} else if c < 0x20 || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// UnquoteC is the inverse of QuotePath for quoted text.
func UnquoteC(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			return "", false
		}
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", false
		}
		if at := strings.IndexByte(cLetters, s[i]); at >= 0 {
			out = append(out, cEscaped[at])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n := 0
		for _, c := range []byte(s[i : i+3]) {
			if c < '0' || c > '7' {
				return "", false
			}
			n = n<<3 | int(c-'0')
		}
		if n > 255 {
			return "", false
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), true
}
