// Package addresses finds what was typed: missions by name or id, moments such as
// login@2, pins; and gives names that are free. It changes no mission.
package addresses

import "github.com/umbra-vcs/umbra/missions/projects"

// Finder finds missions and moments from where its caller stands.
type Finder struct{ *projects.Desk }

// New makes a Finder.
func New(d *projects.Desk) *Finder { return &Finder{Desk: d} }
