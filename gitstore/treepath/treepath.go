// Package treepath takes apart and puts together paths of a snapshot's tree: slashes
// between names, none at either end, "" for the root. It asks no file system.
package treepath

import "strings"

// Join is the path of name in dir; either may be "".
func Join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	}
	return dir + "/" + name
}

// Parent is the directory of a path.
func Parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// Base is the last name of a path.
func Base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Covers tells whether path is dir or lies below it.
func Covers(dir, path string) bool {
	return path == dir || dir == "" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
