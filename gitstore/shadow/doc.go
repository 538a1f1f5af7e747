// Package shadow owns the shadow repository of a project: its creation, refs, snapshot and
// record commits, history, and how what is written becomes durable. The repository is
// bare, standard Git, readable by any Git client.
//
// Of go-git it uses the format of configurations, never the porcelain, the ref writes or
// the object writes (their writes tear when killed, H31).
// It knows nothing of agents' programs, of the terminal or of the daemon, never touches a
// workspace, and never deletes an object: only a second copy of one.
package shadow
