package sessions

import "strings"

// patchMarks begin the lines of a patch that name a file, in the form that the
// apply_patch of several agents takes.
var patchMarks = []string{"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"}

// Patched are the files that a patch writes, removes or moves, as it names them; nil
// for any other text. Agents differ in the white space that they allow.
func Patched(patch string) (files []string) {
	for row := range strings.Lines(patch) {
		for _, mark := range patchMarks {
			named, ok := strings.CutPrefix(strings.TrimSpace(row), mark)
			if file := strings.TrimSpace(named); ok && file != "" {
				files = append(files, file)
			}
		}
	}
	return files
}
