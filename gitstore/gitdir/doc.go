// Package gitdir knows what is in a git directory of which a copy is made: its parts, and
// the settings that name a place on disk. It copies nothing.
package gitdir
