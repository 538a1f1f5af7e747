// Package index is a cache on disk of what can be read from refs and records,
// and the only importer of Badger. It can be deleted at any time and loses
// nothing: whatever is wrong with it, it is made anew. It knows nothing of what
// its entries mean.
//
// Badger's files are mapped sparsely, so writing to one on a full disk is no
// error but a fault that ends the process (H36): whoever opens an index keeps
// an eye on the free space, and closes it before there is none.
package index
