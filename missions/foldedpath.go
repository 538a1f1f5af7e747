package missions

import "strings"

// FoldedPath is a path, or a directory for so many paths in it.
type FoldedPath struct {
	PathReason
	Paths int // 0 for the path itself
}

// foldedFrom is how many paths of one directory, left for one reason, are one line, and
// foldedAfter how many such lines there are for one reason.
const foldedFrom, foldedAfter = 8, 20

// theRest stands where a path would, for those of one reason that are not listed.
const theRest = "…"

// FoldPaths makes one entry of the many in a directory at the top of the workspace that
// a rule or the system leaves alone for one reason, and one of those beyond the first
// few. What people or programs changed is named path by path. JSON lists all.
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
	return foldRest(out)
}

// foldRest makes one entry of those that follow the first few of one reason, in the place
// of the first of them.
func foldRest(list []FoldedPath) []FoldedPath {
	lines := map[string]int{}
	for _, f := range list {
		lines[f.Reason]++
	}
	out, seen, rest := list[:0], map[string]int{}, map[string]int{}
	for _, f := range list {
		_, given := reasons[f.Reason]
		seen[f.Reason]++
		if !given || f.Reason == "changed" || lines[f.Reason] <= foldedAfter || seen[f.Reason] < foldedAfter {
			out = append(out, f)
			continue
		}
		if seen[f.Reason] == foldedAfter {
			rest[f.Reason] = len(out)
			out = append(out, FoldedPath{PathReason: PathReason{theRest, f.Reason}})
		}
		out[rest[f.Reason]].Paths += max(f.Paths, 1)
	}
	return out
}

// Words are why the paths were left alone, for the user.
func (f FoldedPath) Words() string {
	if f.Path == theRest && f.Paths > 0 {
		return Itoa(f.Paths) + " more paths, which --json lists: " + f.PathReason.Words()
	}
	if f.Paths > 0 {
		return Itoa(f.Paths) + " paths in it: " + f.PathReason.Words()
	}
	return f.PathReason.Words()
}
