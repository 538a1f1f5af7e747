// Package records makes and reads what a record holds: its tree, and in it the agent's
// conversation in chunks, so that a record costs what changed. It publishes nothing: the
// record commits and their refs are gitstore/shadow's.
package records
