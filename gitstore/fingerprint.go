package gitstore

import (
	"cmp"
	"slices"
)

// A fingerprint is how many bytes of a file lie in pieces of each hash, by hash: a
// piece is a line, or 64 bytes of one that is longer. It is what Git compares files
// by that may have been renamed (diffcore-delta.c), piece for piece.
type fingerprint []piece

type piece struct {
	hash  uint32
	bytes int
}

const (
	longestPiece = 64
	pieceHashes  = 107927 // Git's HASHBASE, a prime
)

// fingerprintOf reads content. Git takes CRLF and LF for the same in a text.
func fingerprintOf(content []byte) fingerprint {
	counts := map[uint32]int{}
	text := !IsBinary(content)
	var a, b uint32
	n := 0
	for i, c := range content {
		if text && c == '\r' && i+1 < len(content) && content[i+1] == '\n' {
			continue
		}
		old := a
		a = a<<7 ^ b>>25
		b = b<<7 ^ old>>25
		a += uint32(c)
		if n++; n < longestPiece && c != '\n' {
			continue
		}
		counts[(a+b*0x61)%pieceHashes] += n
		a, b, n = 0, 0, 0
	}
	if n > 0 {
		counts[(a+b*0x61)%pieceHashes] += n
	}
	f := make(fingerprint, 0, len(counts))
	for hash, bytes := range counts {
		f = append(f, piece{hash, bytes})
	}
	slices.SortFunc(f, func(x, y piece) int { return cmp.Compare(x.hash, y.hash) })
	return f
}

// common is how many bytes of a file are in another one as well.
func (f fingerprint) common(other fingerprint) (bytes int) {
	for len(f) > 0 && len(other) > 0 {
		switch x, y := f[0], other[0]; {
		case x.hash < y.hash:
			f = f[1:]
		case x.hash > y.hash:
			other = other[1:]
		default:
			bytes += min(x.bytes, y.bytes)
			f, other = f[1:], other[1:]
		}
	}
	return bytes
}
