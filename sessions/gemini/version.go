package gemini

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
)

var _ sessions.Packaged = Adapter{}

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "0.61.0" }

// Client implements sessions.Versioned: no session tells.
func (Adapter) Client(string) string { return "" }

// packageName is the client's on npm.
const packageName = "@google/gemini-cli"

// mostUp is how far above the script the package's description is looked for.
const mostUp = 4

// Installed implements sessions.Packaged: the version stands in the npm package
// that the script belongs to.
func (Adapter) Installed(argv []string) string {
	i := programIndex(argv)
	if i < 0 || !filepath.IsAbs(argv[i]) {
		return ""
	}
	script, err := filepath.EvalSymlinks(argv[i])
	if err != nil {
		return ""
	}
	dir := script
	for range mostUp {
		dir = filepath.Dir(dir)
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var about struct{ Name, Version string }
		if json.Unmarshal(text, &about) == nil && about.Name == packageName {
			return about.Version
		}
	}
	return ""
}
