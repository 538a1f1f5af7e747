package ignore

import (
	"bytes"
	"strings"
)

// wild is a pattern with special characters, compiled. Its language is that of Git's
// wildmatch with the WM_PATHNAME flag; see gitignore(5), "PATTERN FORMAT".
type wild struct {
	tokens []token
	sets   []byteSet
	head   string // plain bytes that every match begins with
	tail   string // and ends with, after that
}

// packedWild is a wild whose parts are in the list's.
type packedWild struct {
	tokens, sets uint32 // where they begin
	length       uint32 // of the tokens
	head, tail   uint32 // their lengths, at the ends of the pattern
}

type globKind uint8

const (
	globTokens  globKind = iota
	globLiteral          // no special character at all
	globSuffix           // "*" and then no special character
)

type tokenKind uint8

const (
	tokenByte    tokenKind = iota // this byte
	tokenEscaped                  // this byte, and never another case of it
	tokenAny                      // "?": any byte but a slash
	tokenSet                      // "[...]": a byte of the set, not a slash
	tokenStar                     // "*": any number of bytes, no slash
	tokenDirs                     // "**/": any number of leading directories
	tokenDirs1                    // "**\/": the same, but at least one, as Git has it
	tokenAll                      // a final "**": whatever is left
)

type token struct {
	kind tokenKind
	b    byte
	set  uint16 // which of the pattern's
}

// mostSets is more sets than a path has bytes, each of which takes one.
const mostSets = 1 << 16

const special = `*?[\`

// compile reports false for a pattern that is malformed and so, as in Git,
// matches nothing: an unclosed bracket, an unknown class, a final backslash.
// In a pattern without path, "**" means "*".
func (l *List) compile(r *rule, pattern string) bool {
	switch {
	case !strings.ContainsAny(pattern, special):
		r.kind, r.slashes = globLiteral, int32(strings.Count(pattern, "/"))
		return true
	case pattern[0] == '*' && !r.path && !strings.ContainsAny(pattern[1:], special):
		r.kind = globSuffix
		return true
	}
	tokens, sets := len(l.tokens), len(l.sets)
	if l.tokens, l.sets = compileWild(l.tokens, l.sets, pattern, r.path); len(l.tokens) == tokens {
		return false
	}
	g := packedWild{tokens: uint32(tokens), sets: uint32(sets), length: uint32(len(l.tokens) - tokens)}
	g.bound(l.tokens[tokens:])
	for _, t := range l.tokens[tokens:] {
		if t.isSlash() || t.kind == tokenDirs1 {
			r.slashes++
		}
		r.deep = r.deep || t.kind == tokenDirs || t.kind == tokenDirs1 || t.kind == tokenAll
	}
	if l.lean {
		l.tokens, l.sets = l.tokens[:tokens], l.sets[:sets]
	}
	r.wild = int32(len(l.wilds))
	l.wilds = append(l.wilds, g)
	return true
}

// compileWild adds the tokens of a pattern to tokens, and its sets to sets; none if it is
// malformed.
func compileWild(tokens []token, sets []byteSet, pattern string, path bool) ([]token, []byteSet) {
	before, beforeSets := tokens, len(sets)
	for i := 0; i < len(pattern); {
		var t token
		var width int
		switch pattern[i] {
		case '\\':
			if i+1 == len(pattern) {
				return before, sets[:beforeSets]
			}
			t, width = token{kind: tokenEscaped, b: pattern[i+1]}, 2
		case '?':
			t, width = token{kind: tokenAny}, 1
		case '[':
			set, n, ok := parseBracket(pattern[i:])
			if !ok || len(sets)-beforeSets == mostSets {
				return before, sets[:beforeSets]
			}
			t, width = token{kind: tokenSet, set: uint16(len(sets) - beforeSets)}, n
			sets = append(sets, *set)
		case '*':
			t, width = compileStars(pattern, i, path)
		default:
			t, width = token{kind: tokenByte, b: pattern[i]}, 1
		}
		tokens = append(tokens, t)
		i += width
	}
	return tokens, sets
}

// bound finds the plain bytes that every match begins and ends with: hardly a
// name has them, and so hardly a name is matched token by token.
func (g *packedWild) bound(tokens []token) {
	for len(tokens) > 0 && tokens[0].kind == tokenByte {
		g.head, tokens = g.head+1, tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == tokenByte {
		g.tail, tokens = g.tail+1, tokens[:len(tokens)-1]
	}
}

// wild is the compiled pattern of a rule.
func (l *List) wild(r *rule) wild {
	if r.kind != globTokens {
		tokens, _ := compileWild(nil, nil, l.pattern(r), false)
		return wild{tokens: tokens}
	}
	w, g := l.bounds(r), &l.wilds[r.wild]
	if l.lean {
		w.tokens, w.sets = compileWild(nil, nil, l.pattern(r), r.path)
	} else {
		w.tokens, w.sets = l.tokens[g.tokens:g.tokens+g.length], l.sets[g.sets:]
	}
	return w
}

// bounds is of the compiled pattern of a rule of globTokens what mayMatch asks for.
func (l *List) bounds(r *rule) wild {
	g, pattern := &l.wilds[r.wild], l.pattern(r)
	return wild{head: pattern[:g.head], tail: pattern[len(pattern)-int(g.tail):]}
}

// mayMatch tells of most texts at once that they do not match.
func (g *wild) mayMatch(text []byte) bool {
	end := len(text) - len(g.tail)
	return end >= len(g.head) && string(text[:len(g.head)]) == g.head && string(text[end:]) == g.tail
}

// compileStars reads the run of asterisks at i. Two or more cross directories
// only as a whole component of the path.
func compileStars(pattern string, i int, path bool) (token, int) {
	end := i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest := pattern[end:]
	starts := i == 0 || pattern[i-1] == '/'
	switch {
	case !path || end-i < 2 || !starts:
		return token{kind: tokenStar}, end - i
	case rest == "":
		return token{kind: tokenAll}, end - i
	case rest[0] == '/':
		return token{kind: tokenDirs}, end - i + 1
	case strings.HasPrefix(rest, `\/`):
		return token{kind: tokenDirs1}, end - i + 2
	}
	return token{kind: tokenStar}, end - i
}

func (t token) isSlash() bool {
	return t.b == '/' && (t.kind == tokenByte || t.kind == tokenEscaped)
}

// takes tells whether the token, one that stands for one byte, matches b.
// Git's folding is peculiar and copied: the text is made lower case, plain
// bytes of the pattern too, escaped ones and those in brackets are not.
func (g *wild) takes(t token, b byte, fold bool) bool {
	if fold {
		b = lower(b)
	}
	switch t.kind {
	case tokenByte:
		return b == t.b || fold && b == lower(t.b)
	case tokenEscaped:
		return b == t.b
	case tokenAny:
		return b != '/'
	case tokenSet:
		return b != '/' && g.sets[t.set].has(b, fold)
	}
	return false
}

// matches tells whether the rule's pattern matches the whole text.
func (l *List) matches(r *rule, text []byte, fold bool) bool {
	switch r.kind {
	case globLiteral:
		return equal(text, l.literal(r), fold)
	case globSuffix:
		literal := l.literal(r)
		from := len(text) - len(literal)
		return from >= 0 && equal(text[from:], literal, fold)
	}
	if w := l.bounds(r); !fold && !w.mayMatch(text) {
		return false
	}
	w := l.wild(r)
	return w.match(w.tokens, text, fold)
}

// equal tells whether a text is the plain bytes of a pattern.
func equal(text []byte, plain string, fold bool) bool {
	if !fold || len(text) != len(plain) {
		return string(text) == plain
	}
	for i, b := range text {
		if lower(b) != lower(plain[i]) {
			return false
		}
	}
	return true
}

// match tells whether the tokens match the whole text, in time proportional
// to the product of their lengths at worst.
//
// Going back to the most recent asterisk alone is enough: the slashes of the
// pattern fix where components begin, so an asterisk of an earlier component
// has no other way to match, and what stands between two "**/" spans a fixed
// number of components, so its earliest match leaves the most to the rest.
func (g *wild) match(tokens []token, text []byte, fold bool) bool {
	p, i := 0, 0
	star, starText := -1, 0
	dirs, dirsText := -1, 0
	for {
		if p == len(tokens) && i == len(text) {
			return true
		}
		if p < len(tokens) {
			t := tokens[p]
			switch t.kind {
			case tokenAll:
				return true
			case tokenStar:
				p++
				star, starText = p, i
				continue
			case tokenDirs, tokenDirs1:
				p++
				star = -1
				dirs, dirsText = p, i
				if t.kind == tokenDirs {
					continue
				}
			default:
				if i < len(text) && g.takes(t, text[i], fold) {
					if t.isSlash() {
						star = -1
					}
					p++
					i++
					continue
				}
			}
		}
		switch {
		case star >= 0 && starText < len(text) && text[starText] != '/':
			starText++
			p, i = star, starText
		case dirs >= 0:
			slash := bytes.IndexByte(text[dirsText:], '/')
			if slash < 0 {
				return false
			}
			dirsText += slash + 1
			star = -1
			p, i = dirs, dirsText
		default:
			return false
		}
	}
}

// mayMatchBelow tells whether a path strictly below the directory dir could
// match. It may say yes where no such path exists.
func (w *wild) mayMatchBelow(dir []byte, fold bool) bool {
	tokens := w.tokens
	for len(dir) > 0 {
		component, rest, _ := bytes.Cut(dir, []byte{'/'})
		end := 0
		for ; end < len(tokens) && !tokens[end].isSlash(); end++ {
			switch tokens[end].kind {
			case tokenDirs, tokenDirs1, tokenAll:
				return true
			}
		}
		if end == len(tokens) || !w.match(tokens[:end], component, fold) {
			return false
		}
		tokens, dir = tokens[end+1:], rest
	}
	return true
}
