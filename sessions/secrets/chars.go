package secrets

// charset is a set of bytes.
type charset [256]bool

func chars(ranges string) (set charset) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := int(ranges[i]); c <= int(ranges[i+1]); c++ {
			set[c] = true
		}
	}
	return set
}

// Of each pair, all between the one and the other are in the set.
var (
	alphanumeric = chars("09AZaz")
	word         = chars("09AZaz__")
	wordDash     = chars("09AZaz__--")
	wordDashDot  = chars("09AZaz__--..==")
	base64       = chars("09AZaz++//==")
	base64URL    = chars("09AZaz__--//++==")
	base32       = chars("09AZ")
	hex          = chars("09af")
	hexDash      = chars("09af--")
	jwtChars     = chars("09AZaz__--..")
	keyChars     = chars("09AZaz__--")
	// A value without quotes ends where most languages end one: before a
	// backslash too, so that no escape is ever cut in two.
	bareValue = chars("!!##%%*+--.:==?Z^_az~~//")
	// One in quotes may hold what else is printed.
	quotedValue = chars("!!#&(Z]_a~")
)

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// mostJudged is how much of a text is looked at to tell whether it was drawn by lot.
const mostJudged = 128

// drawn is what a text is made of.
type drawn struct {
	digits, letters int
	different       int
	runs            int // of one kind; a capital and the small letters behind it are one: a word
	switches        int // between digits and letters
	longest         int // of digits and letters together
}

func judge(text []byte) (d drawn) {
	var seen charset
	last, stretch := byte(0), 0 // the kind of the one before
	for _, c := range text[:min(len(text), mostJudged)] {
		if !seen[c] {
			seen[c] = true
			d.different++
		}
		kind := kindOf(c)
		stretch++
		switch kind {
		case 0:
			stretch = 0
		case '0':
			d.digits++
		default:
			d.letters++
		}
		d.longest = max(d.longest, stretch)
		if kind != 0 && kind != last && (kind != 'a' || last != 'A') {
			d.runs++
		}
		if kind != 0 && last != 0 && (kind == '0') != (last == '0') {
			d.switches++
		}
		last = kind
	}
	return d
}

// isRandom reports whether a text looks drawn by lot, as no name, path, number, date
// or sentence does: digits among letters, and seldom many of a kind side by side.
// Per is how many characters a run of one kind may have on the average; of 62
// characters drawn by lot that is 2.2. Small letters and digits alone have longer ones.
func isRandom(text []byte, per float64) bool {
	d := judge(text)
	n := d.digits + d.letters
	return d.digits >= 1 && d.letters >= 3 && d.different >= 8 && (float64(n) <= per*float64(d.runs) || d.switches >= 4 && n <= 6*d.switches)
}

// isToken reports what may stand behind what an issuer's tokens begin with: some have
// no digit, and no word is as long.
func isToken(text []byte) bool {
	d := judge(text)
	return d.longest >= 24 && d.different >= 8 || isRandom(text, 3.5)
}

// isAssigned reports what may be a secret where its name says so: letters and digits,
// as no word and no number has them, or what is longer than names and counts are.
func isAssigned(text []byte) bool {
	d := judge(text)
	return d.digits >= 1 && d.letters >= 1 && d.different >= 5 || d.longest >= 24 && d.different >= 8 || d.letters == 0 && d.longest >= 16 && d.different >= 5
}

// isLong reports letters and digits of which even names are seldom as long.
func isLong(text []byte) bool {
	d := judge(text)
	return d.longest >= 24 && d.digits >= 2 && d.different >= 10
}

// kindOf is one of 0, A and a for a digit or a letter, 0 for what is neither.
func kindOf(c byte) byte {
	switch {
	case isDigit(c):
		return '0'
	case isUpper(c):
		return 'A'
	case isLower(c):
		return 'a'
	}
	return 0
}
