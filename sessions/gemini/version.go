package gemini

import "github.com/umbra-vcs/umbra/sessions"

var _ sessions.Packaged = Adapter{}

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "0.61.0" }

// Client implements sessions.Versioned: no session tells.
func (Adapter) Client(string) string { return "" }

// packageName is the client's on npm.
const packageName = "@google/gemini-cli"

// Installed implements sessions.Packaged: the version stands in the npm package
// that the script belongs to.
func (Adapter) Installed(argv []string) string {
	return sessions.PackageVersion(argv, programIndex(argv), packageName)
}
