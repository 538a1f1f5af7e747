package ignore

import "strings"

// TakenIn is the rule that takes in a directory of a path from the file's own directory,
// slashes between its names: what has a meaning in a pattern is escaped.
func TakenIn(path string) string {
	return "!/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path) + "/"
}
