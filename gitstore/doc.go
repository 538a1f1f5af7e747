// Package gitstore is the words of the shadow repository: ids, objects and their text,
// snapshots, records and their trailers, the names of refs, and the errors about them. It
// opens no file. The repository itself is gitstore/shadow.
package gitstore
