package ignore

import (
	"bytes"
	"slices"
	"strings"
)

// glob is one compiled pattern. Its language is that of Git's wildmatch with
// the WM_PATHNAME flag; see gitignore(5), "PATTERN FORMAT".
//
// An ignore file may have any number of lines, so that each byte here counts: of a
// pattern without special characters nothing but its text is kept.
type glob struct {
	kind    globKind
	deep    bool   // holds a "**" that crosses directories
	slashes int32  // slashes that a match must hold: exactly, or at least if deep
	literal string // of globLiteral and, without the asterisk, globSuffix
	*wild          // of globTokens
}

// wild is a pattern with special characters.
type wild struct {
	tokens []token
	sets   []*byteSet
	head   string // what every match begins with
	tail   string // and ends with, after that
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
func compile(pattern string, path bool) (glob, bool) {
	switch {
	case !strings.ContainsAny(pattern, special):
		return glob{kind: globLiteral, literal: pattern, slashes: int32(strings.Count(pattern, "/"))}, true
	case pattern[0] == '*' && !path && !strings.ContainsAny(pattern[1:], special):
		return glob{kind: globSuffix, literal: pattern[1:]}, true
	}
	return compileWild(pattern, path)
}

// compileWild is compile for a pattern with special characters.
func compileWild(pattern string, path bool) (glob, bool) {
	g := glob{wild: &wild{tokens: make([]token, 0, len(pattern))}}
	for i := 0; i < len(pattern); {
		var t token
		var width int
		switch pattern[i] {
		case '\\':
			if i+1 == len(pattern) {
				return glob{}, false
			}
			t, width = token{kind: tokenEscaped, b: pattern[i+1]}, 2
		case '?':
			t, width = token{kind: tokenAny}, 1
		case '[':
			set, n, ok := parseBracket(pattern[i:])
			if !ok || len(g.sets) == mostSets {
				return glob{}, false
			}
			t, width = token{kind: tokenSet, set: uint16(len(g.sets))}, n
			g.sets = append(g.sets, set)
		case '*':
			t, width = compileStars(pattern, i, path)
		default:
			t, width = token{kind: tokenByte, b: pattern[i]}, 1
		}
		g.add(t)
		i += width
	}
	g.bound(pattern)
	g.tokens = slices.Clip(g.tokens)
	return g, true
}

// bound finds the plain bytes that every match begins and ends with: hardly a
// name has them, and so hardly a name is matched token by token.
func (g *wild) bound(pattern string) {
	var head, tail []byte
	tokens := g.tokens
	for len(tokens) > 0 && tokens[0].isPlain() {
		head, tokens = append(head, tokens[0].b), tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].isPlain() {
		tail, tokens = append(tail, tokens[len(tokens)-1].b), tokens[:len(tokens)-1]
	}
	slices.Reverse(tail)
	g.head, g.tail = within(pattern, head), within(pattern, tail)
}

// within is text as a part of pattern, if it is one: it takes no memory then.
func within(pattern string, text []byte) string {
	if i := strings.Index(pattern, string(text)); i >= 0 {
		return pattern[i : i+len(text)]
	}
	return string(text)
}

func (t token) isPlain() bool { return t.kind == tokenByte || t.kind == tokenEscaped }

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

func (g *glob) add(t token) {
	switch {
	case t.isSlash():
		g.slashes++
	case t.kind == tokenDirs1:
		g.slashes++
		g.deep = true
	case t.kind == tokenDirs || t.kind == tokenAll:
		g.deep = true
	}
	g.tokens = append(g.tokens, t)
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

// matches tells whether the pattern matches the whole text.
func (g *glob) matches(text []byte, fold bool) bool {
	switch {
	case g.kind == globLiteral:
		return equal(text, g.literal, fold)
	case g.kind == globSuffix:
		from := len(text) - len(g.literal)
		return from >= 0 && equal(text[from:], g.literal, fold)
	case !fold && !g.mayMatch(text):
		return false
	}
	return g.match(g.tokens, text, fold)
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

// compiled is the pattern in tokens, whatever its kind.
func (g *glob) compiled() *wild {
	pattern := g.literal
	switch g.kind {
	case globTokens:
		return g.wild
	case globSuffix:
		pattern = "*" + pattern
	}
	plain, _ := compileWild(pattern, false)
	return plain.wild
}

// mayMatchBelow tells whether a path strictly below the directory dir could
// match. It may say yes where no such path exists.
func (g *glob) mayMatchBelow(dir []byte, fold bool) bool {
	w := g.compiled()
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
