// Package trigrams is a cache on disk of which three bytes follow each other, and which words
// stand beside each other, somewhere in which pieces of conversations, so that a search need
// not read a piece that cannot have what it looks for.
//
// It is files that never change, the parts. Each is of some pieces, and names them by what
// never changes either: the record that holds the conversation. A part may be deleted or
// damaged at any time: whatever of it cannot be proved counts as not indexed.
package trigrams
