// Package client is missions.Service over a socket: the side of the wire that
// asks. It finds the process that serves a home, starts one if there is none,
// and explains why if it can't. It never decides to work in process instead:
// it returns an error that says so, and its caller chooses.
package client
