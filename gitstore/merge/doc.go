// Package merge merges the trees of two snapshots that began as one: git does the work,
// in a scratch, and what it made is stored like anything else. It touches no workspace,
// and it always gives a tree: where both sides changed the same lines it takes one of
// them, and says where.
package merge
