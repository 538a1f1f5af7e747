// Package journal owns every durable write outside the object store: files
// written whole or not at all, the journal of operations in flight with their
// staged and displaced files, the queue of snapshot requests, the state of
// live missions, and what is known of a mission in this home alone. It must
// not know what an operation or a request means, never decides whether one is
// rolled forward or back, and deletes nothing that it was not told to drop.
package journal
