// Package capture owns the way of a workspace into a tree: which paths are
// captured, reading them so that the tree says what was on disk, and the stat cache
// that makes the cost follow the change.
//
// It only reads workspaces and never writes to one. It must not know refs,
// commits, missions or agents; it publishes nothing: the objects of a capture
// go into a Batch whose owner makes them durable and moves the ref.
package capture
