package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Inherited is the beginning of a fork's conversation, which is made again from
// the source's record instead of being stored twice.
type Inherited struct {
	// Length is how many bytes of the file it makes, Lines how many lines, SHA256
	// their hash in hexadecimal.
	Length int64  `json:"length"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
	// Record holds the source's conversation, of which SourceLength bytes were
	// used.
	Record       gitstore.ID `json:"record"`
	SourceLength int64       `json:"source_length"`
	// Recipe says how the source's bytes were rewritten; it belongs to the
	// caller.
	Recipe json.RawMessage `json:"recipe,omitempty"`
}

// InheritedProof takes the bytes of an inherited part as they are written or
// made again. Not safe for concurrent use.
type InheritedProof struct {
	sum    hash.Hash
	length int64
	lines  int
}

// NewInheritedProof is for a part that is written, made again or read.
func NewInheritedProof() *InheritedProof { return &InheritedProof{sum: sha256.New()} }

// Write implements io.Writer; it never fails.
func (p *InheritedProof) Write(b []byte) (int, error) {
	p.length += int64(len(b))
	p.lines += bytes.Count(b, []byte{'\n'})
	return p.sum.Write(b)
}

// Describe notes in a part what was written of it.
func (p *InheritedProof) Describe(in *Inherited) {
	in.Length, in.Lines, in.SHA256 = p.length, p.lines, hex.EncodeToString(p.sum.Sum(nil))
}

// Proves reports whether what was written is the part.
func (p *InheritedProof) Proves(in *Inherited) bool {
	return p.length == in.Length && hex.EncodeToString(p.sum.Sum(nil)) == in.SHA256
}

// begins reports whether a file of that length begins with the part.
func (in *Inherited) begins(file io.ReaderAt, length int64) (bool, error) {
	if length < in.Length {
		return false, nil
	}
	proof := NewInheritedProof()
	if _, err := io.Copy(proof, io.NewSectionReader(file, 0, in.Length)); err != nil {
		return false, err
	}
	return proof.Proves(in), nil
}
