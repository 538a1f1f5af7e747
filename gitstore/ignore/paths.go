package ignore

import "strings"

// Paths answers for whole paths, by entering their directories from a first
// matcher on. It keeps the matchers of directories it has entered. It is not
// safe for concurrent use.
type Paths struct {
	files func(dir string) Files
	dirs  map[string]*Matcher
}

// NewPaths starts at root, the matcher of the directory that all paths are
// relative to. Files is asked once for each directory below it that a path
// leads through, with a path such as "a/b".
func NewPaths(root *Matcher, files func(dir string) Files) *Paths {
	return &Paths{files: files, dirs: map[string]*Matcher{"": root}}
}

// Match is the verdict on a path such as "a/b/c".
func (p *Paths) Match(path string, isDir bool) Verdict {
	dir, name := split(path)
	return p.Dir(dir).Match(name, isDir)
}

// Dir is the matcher of a directory, "" being the first.
func (p *Paths) Dir(dir string) *Matcher {
	if m, ok := p.dirs[dir]; ok {
		return m
	}
	parent, name := split(dir)
	m := p.Dir(parent).Enter(name, p.files(dir))
	p.dirs[dir] = m
	return m
}

// Forget drops what is known of a directory and all below it, when ignore
// files there have changed. The first matcher stays.
func (p *Paths) Forget(dir string) {
	for d := range p.dirs {
		if d != "" && (dir == "" || d == dir || strings.HasPrefix(d, dir+"/")) {
			delete(p.dirs, d)
		}
	}
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
