package missions

import "strings"

// FoldedPath is a path, or a directory for so many paths in it.
type FoldedPath struct {
	PathReason
	Paths int // 0 for the path itself
}

// foldedFrom is how many paths of one directory, left for one reason, are one line.
const foldedFrom = 8

// FoldPaths makes one entry of the many in a directory at the top of the workspace that
// a rule or the system leaves alone for one reason. What people or programs changed is
// named path by path. JSON lists all.
func FoldPaths(list []PathReason) []FoldedPath {
	top := func(k PathReason) PathReason {
		dir, _, in := strings.Cut(k.Path, "/")
		if !in {
			return PathReason{}
		}
		return PathReason{Path: dir, Reason: k.Reason}
	}
	counts := map[PathReason]int{}
	for _, k := range list {
		if _, given := reasons[k.Reason]; given && k.Reason != "changed" {
			counts[top(k)]++
		}
	}
	var out []FoldedPath
	for _, k := range list {
		dir := top(k)
		n := counts[dir]
		switch {
		case dir.Path == "" || n >= 0 && n < foldedFrom:
			out = append(out, FoldedPath{PathReason: k})
		case n > 0:
			out = append(out, FoldedPath{PathReason{dir.Path + "/", k.Reason}, n})
			counts[dir] = -1
		}
	}
	return out
}

// Words are why the paths were left alone, for the user.
func (f FoldedPath) Words() string {
	if f.Paths > 0 {
		return Itoa(f.Paths) + " paths in it: " + f.PathReason.Words()
	}
	return f.PathReason.Words()
}
