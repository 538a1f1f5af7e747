// Package shadow owns the shadow repository of a project: its creation, refs, objects,
// snapshot and record commits, and history. The repository is bare, standard Git, readable
// by any Git client.
//
// It is the only package that imports go-git, of which it uses formats and types, never
// the porcelain, the ref writes or the object writes (their writes tear when killed, H31).
// It knows nothing of agents' programs, of the terminal or of the daemon, never touches a
// workspace, and never deletes an object: only a second copy of one.
package shadow
