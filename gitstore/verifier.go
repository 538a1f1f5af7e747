package gitstore

import "hash"

// BlobVerifier computes the id that bytes have as a blob, as they are written
// to it. Not safe for concurrent use.
type BlobVerifier struct{ sum hash.Hash }

// NewBlobVerifier is for a blob of exactly size bytes.
func NewBlobVerifier(size int64) *BlobVerifier { return &BlobVerifier{newVerifier(TypeBlob, size)} }

// Write implements io.Writer; it never fails.
func (v *BlobVerifier) Write(p []byte) (int, error) { return v.sum.Write(p) }

// ID is the id of what was written; after fewer or more bytes than announced
// that of no object.
func (v *BlobVerifier) ID() ID { return ID(v.sum.Sum(nil)) }
