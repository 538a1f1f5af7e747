// Package daemon is the process that serves a home: it holds the home lock,
// answers calls of missions.Service on a Unix socket, watches the workspaces
// of live missions and keeps the index. It puts watcher and index into
// missions, and owns no rule of the domain: what a call means is missions' to
// say, in this process as in any other.
//
// Everything it knows can be lost: snapshots are published by the kernel's
// locks and compare-and-swap alone, whether or not a daemon runs.
package daemon
