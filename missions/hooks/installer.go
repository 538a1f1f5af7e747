// Package hooks puts the hooks of agents, Git and editors in place, checks them, and
// takes them out again so that the user's file is as it was, to the byte.
package hooks

import "github.com/umbra-vcs/umbra/missions/projects"

// Installer installs hooks.
type Installer struct{ *projects.Desk }

// New makes an Installer.
func New(d *projects.Desk) *Installer { return &Installer{Desk: d} }
