package jsontext

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeRune is \uXXXX, or a surrogate pair of them.
func EscapeRune(r rune) string {
	if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// AppendEscaped appends a character as JSON.stringify does.
func AppendEscaped(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < 0x20:
		if i := bytes.IndexByte([]byte("\b\f\n\r\t"), byte(r)); i >= 0 {
			return append(dst, '\\', "bfnrt"[i])
		}
		return append(dst, EscapeRune(r)...)
	}
	return utf8.AppendRune(dst, r)
}

// Quote is s as JSON.stringify writes it.
func Quote(s string) []byte {
	dst := []byte{'"'}
	for _, r := range s {
		dst = AppendEscaped(dst, r)
	}
	return append(dst, '"')
}

// IsHex reports a hexadecimal digit of either case.
func IsHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
