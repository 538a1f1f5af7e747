package ignore

import "strings"

// byteSet is what a bracket expression matches, once as written and once
// under case folding, where it is asked with lower-case letters only.
type byteSet struct {
	exact, folded [4]uint64
	negated       bool
}

func (s *byteSet) has(b byte, fold bool) bool {
	bits := &s.exact
	if fold {
		bits = &s.folded
	}
	return (bits[b>>6]&(1<<(b&63)) != 0) != s.negated
}

func (s *byteSet) add(b byte) {
	s.exact[b>>6] |= 1 << (b & 63)
	s.folded[b>>6] |= 1 << (b & 63)
}

// addFolded adds b and, under folding, its lower-case form.
func (s *byteSet) addFolded(b byte) {
	s.add(b)
	b = lower(b)
	s.folded[b>>6] |= 1 << (b & 63)
}

// parseBracket reads the bracket expression that text begins with and returns
// its width. Everything that Git's wildmatch calls malformed is not ok.
func parseBracket(text string) (*byteSet, int, bool) {
	s := &byteSet{}
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		s.negated = true
		i++
	}
	var previous byte // the start of a range, 0 if nothing can start one
	for first := true; ; first = false {
		if i >= len(text) {
			return nil, 0, false
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			return s, i + 1, true
		case c == '\\':
			i++
			if i >= len(text) {
				return nil, 0, false
			}
			previous = text[i]
			s.add(previous)
			i++
		case c == '-' && previous != 0 && i+1 < len(text) && text[i+1] != ']':
			i++
			if text[i] == '\\' {
				i++
				if i >= len(text) {
					return nil, 0, false
				}
			}
			for b := int(previous); b <= int(text[i]); b++ {
				s.addFolded(byte(b))
			}
			previous = 0
			i++
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			width, ok := s.addClass(text[i:])
			if !ok {
				return nil, 0, false
			}
			previous = 0
			if width == 1 {
				previous = '['
			}
			i += width
		default:
			s.add(c)
			previous = c
			i++
		}
	}
}

// addClass reads "[:name:]" at the start of text. Without the closing ":]" the
// bracket stands for itself and has width 1.
func (s *byteSet) addClass(text string) (int, bool) {
	end := strings.IndexByte(text[2:], ']')
	if end < 0 {
		return 0, false
	}
	end += 2
	if end == 2 || text[end-1] != ':' {
		s.add('[')
		return 1, true
	}
	in := class(text[2 : end-1])
	if in == nil {
		return 0, false
	}
	upper := text[2:end-1] == "upper"
	for b := range 256 {
		switch {
		case !in(byte(b)):
		case upper:
			s.addFolded(byte(b))
		default:
			s.add(byte(b))
		}
	}
	return end + 1, true
}

// class is Git's own view of the POSIX classes: ASCII only, whatever the
// locale, and a space is one of blank, tab, LF and CR.
func class(name string) func(byte) bool {
	switch name {
	case "alnum":
		return func(b byte) bool { return isAlpha(b) || isDigit(b) }
	case "alpha":
		return isAlpha
	case "blank":
		return func(b byte) bool { return b == ' ' || b == '\t' }
	case "cntrl":
		return func(b byte) bool { return b < ' ' || b == 0x7f }
	case "digit":
		return isDigit
	case "graph":
		return func(b byte) bool { return b > ' ' && b < 0x7f }
	case "lower":
		return isLower
	case "print":
		return func(b byte) bool { return b >= ' ' && b < 0x7f }
	case "punct":
		return func(b byte) bool { return b > ' ' && b < 0x7f && !isAlpha(b) && !isDigit(b) }
	case "space":
		return func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
	case "upper":
		return isUpper
	case "xdigit":
		return func(b byte) bool { return isDigit(b) || 'a' <= lower(b) && lower(b) <= 'f' }
	}
	return nil
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isAlpha(b byte) bool { return isUpper(b) || isLower(b) }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func lower(b byte) byte {
	if isUpper(b) {
		return b + ('a' - 'A')
	}
	return b
}
