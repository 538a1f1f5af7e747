package trigrams

import (
	"math/bits"
	"slices"
)

// Gram is three bytes that follow each other.
type Gram uint32

// grams is how many there are.
const grams = 1 << 24

// Set collects what trigrams texts have. It takes 2 MiB, and is used again and again.
type Set struct {
	seen [grams / 64]uint64
	dirt []Gram
}

// Add takes in a text.
func (s *Set) Add(text string) {
	for i := 2; i < len(text); i++ {
		g := gramAt(text, i-2)
		if bit := uint64(1) << (g % 64); s.seen[g/64]&bit == 0 {
			s.seen[g/64] |= bit
			s.dirt = append(s.dirt, g)
		}
	}
}

// Take gives what was collected, sorted, and begins anew.
func (s *Set) Take() []Gram {
	all := slices.Clone(s.dirt)
	slices.Sort(all)
	for _, g := range s.dirt {
		s.seen[g/64] = 0
	}
	s.dirt = s.dirt[:0]
	return all
}

// Of are the trigrams of a short text, each once.
func Of(text string) (all []Gram) {
	for i := 2; i < len(text); i++ {
		all = append(all, gramAt(text, i-2))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func gramAt(text string, i int) Gram {
	return Gram(text[i])<<16 | Gram(text[i+1])<<8 | Gram(text[i+2])
}

// bitmap is a set of pieces, by their numbers in a part.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(n int) { b[n/64] |= 1 << (n % 64) }

func (b bitmap) has(n int) bool { return b[n/64]&(1<<(n%64)) != 0 }

// and leaves what is in both, and reports whether anything is left.
func (b bitmap) and(o bitmap) bool {
	n := 0
	for i := range b {
		b[i] &= o[i]
		n += bits.OnesCount64(b[i])
	}
	return n > 0
}
