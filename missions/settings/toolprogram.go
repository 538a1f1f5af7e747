package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ParseToolProgram reads a value of tools.cut or tools.rewrite: a tool's name, and the
// command line of a program for it. Blanks separate its words, and no shell reads it. The
// program's path is absolute, or begins with ~/: it is looked for nowhere.
func ParseToolProgram(line string) (tool string, command []string, err error) {
	words := strings.Fields(line)
	switch {
	case len(words) < 2:
		return "", nil, errors.New("a tool's name and a program are needed")
	case !filepath.IsAbs(words[1]) && !strings.HasPrefix(words[1], "~/"):
		return "", nil, fmt.Errorf("%s is no absolute path", words[1])
	}
	return words[0], words[1:], nil
}

func checkToolPrograms(v any) error {
	known := map[string]bool{}
	for _, line := range v.([]string) {
		tool, _, err := ParseToolProgram(line)
		if err != nil || known[tool] {
			return fmt.Errorf("%q", line)
		}
		known[tool] = true
	}
	return nil
}
