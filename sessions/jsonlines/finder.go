package jsonlines

import (
	"bytes"
	"strings"
)

// Finder searches for a word by the byte of it that text holds least often: a
// search for one byte runs at the speed of memory, one for a word stops wherever
// its first letter stands.
type Finder struct {
	word []byte
	rare int // index in word
}

// common are bytes of JSON and source text, the most common first. What is not
// among them is rarer.
const common = ` etanoisrl"cdu\mp,fh:g/b_.01-2(){}yw=;v3k456789'[]<>`

// NewFinder returns the finder of a word that is not empty.
func NewFinder(word []byte) Finder {
	f := Finder{word: word}
	best := -1
	for i, c := range word {
		rank := strings.IndexByte(common, c)
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			f.rare, best = i, rank
		}
	}
	return f
}

// mostMisses is how often the rare byte may stand alone at least before it is
// given up for the word; beyond that, once in so many bytes.
const mostMisses, missEvery = 32, 16

// Next is the index of the first word that begins at or after from; -1 if there
// is none.
func (f Finder) Next(b []byte, from int) int {
	misses := 0
	for i := from + f.rare; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], f.word[f.rare])
		if n < 0 {
			return -1
		}
		i += n
		start := i - f.rare
		if start+len(f.word) <= len(b) && bytes.Equal(b[start:start+len(f.word)], f.word) {
			return start
		}
		if misses++; misses > mostMisses && misses > (i-from)/missEvery {
			if n := bytes.Index(b[start+1:], f.word); n >= 0 {
				return start + 1 + n
			}
			return -1
		}
	}
	return -1
}
