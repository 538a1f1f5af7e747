package home

import (
	"strings"
)

// IsWithin reports whether path is dir or below it. Both are clean.
func IsWithin(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// UnfinishedProjectPrefix begins the name of a project that is being made.
const UnfinishedProjectPrefix = ".new-"
