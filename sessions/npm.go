package sessions

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// mostUp is how far above a script its package's description is looked for.
const mostUp = 4

// PackageVersion is the version of the npm package of that name to which the script at an
// index of a command line belongs; "" if that does not tell.
func PackageVersion(argv []string, i int, name string) string {
	if i < 0 || !filepath.IsAbs(argv[i]) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(argv[i])
	if err != nil {
		return ""
	}
	for range mostUp {
		dir = filepath.Dir(dir)
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var about struct{ Name, Version string }
		if json.Unmarshal(text, &about) == nil && about.Name == name {
			return about.Version
		}
	}
	return ""
}
