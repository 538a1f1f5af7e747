package commits

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// outside tells which paths of the workspace git add would leave alone: those in a
// repository of their own, such as a submodule, and those that the user's index says not to
// look at: outside of a sparse checkout, or assumed to be unchanged.
type outside struct {
	top      string
	head     map[string]file // the branch's
	unlooked map[string]bool // skipped and assumed
	skipped  []string        // what a sparse checkout leaves out
	assumed  []string        // to be unchanged
	nested   map[string]bool // directories, once looked at
}

const modeGitlink = "160000"

func (r *repository) outside(head map[string]file) (*outside, error) {
	o := &outside{top: r.user.TopLevel, head: head, unlooked: map[string]bool{}, nested: map[string]bool{}}
	out, err := r.git(run{args: []string{"ls-files", "-v", "-z"}})
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		tag, name, _ := strings.Cut(entry, " ")
		switch {
		case strings.EqualFold(tag, "S"):
			o.skipped = append(o.skipped, name)
		case strings.ToUpper(tag) != tag:
			o.assumed = append(o.assumed, name)
		default:
			continue
		}
		o.unlooked[name] = true
	}
	return o, nil
}

// isNested reports whether a path is in a repository of its own.
func (o *outside) isNested(name string) bool {
	dir := path.Dir(name)
	if dir == "." {
		return false
	}
	nested, known := o.nested[dir]
	if !known {
		nested = o.head[dir].mode == modeGitlink || isRepository(filepath.Join(o.top, filepath.FromSlash(dir))) || o.isNested(dir)
		o.nested[dir] = nested
	}
	return nested
}

// isRepository reports whether git takes a directory for the top of a repository.
func isRepository(dir string) bool {
	at := filepath.Join(dir, ".git")
	info, err := os.Lstat(at)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(at, "HEAD"))
	}
	return err == nil
}
