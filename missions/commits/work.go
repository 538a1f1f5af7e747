package commits

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// work is what a mission has done, path by path, on top of what a branch has.
type work struct {
	contents *contents
	steps    []missions.LandingStep
	all      bool            // where others changed the same lines, these land as they are
	head     map[string]file // the branch's, by the paths in the repository
	now      map[string]file // what it has with the commits so far; others are as in head
	outside  *outside
	kept     map[string]bool // paths in the workspace that are changed, and land never
	from     map[string]int  // path in the workspace -> the step from which on it is to land; none if nothing is
}

// conflicts are paths that can't land.
type conflicts []string

func (c conflicts) Error() string {
	return "others have changed the same lines: " + missions.NameSome(c)
}

// begin finds out what of the work the branch does not have yet: what the mission has
// changed since a path was as the branch has it.
func (w *work) begin() error {
	w.now, w.from, w.kept = map[string]file{}, map[string]int{}, map[string]bool{}
	last := map[string]int{} // the last step of a path
	for i, s := range w.steps {
		for _, c := range s.Changes {
			last[c.Path] = i
		}
	}
	open, err := w.openPaths(last)
	if err != nil || len(open) == 0 {
		return err
	}
	for i, s := range w.steps {
		before, after := map[string]missions.LandingFile{}, map[string]missions.LandingFile{}
		for _, c := range s.Changes {
			if open[c.Path] {
				before[c.Path], after[c.Path] = c.From, c.To
			}
		}
		if s.IsOwn() {
			if err := w.contents.add(s.From, before); err != nil {
				return err
			}
		}
		if err := w.contents.add(s.To, after); err != nil {
			return err
		}
		for path := range after {
			if _, seen := w.from[path]; !seen {
				w.from[path] = i
			}
			if w.contents.of(s.To, path) == w.at(path) {
				w.from[path] = i + 1
			}
		}
	}
	return nil
}

// openPaths are the paths that the branch does not have as the workspace has them, without
// those that the user's git ignores or leaves alone.
func (w *work) openPaths(last map[string]int) (_ map[string]bool, err error) {
	if w.outside, err = w.contents.repo.outside(w.head); err != nil {
		return nil, err
	}
	newest := map[string]missions.LandingFile{}
	for path, i := range last {
		at := slices.IndexFunc(w.steps[i].Changes, func(c missions.LandingChange) bool { return c.Path == path })
		to, name := w.steps[i].Changes[at].To, w.contents.repo.prefix+path
		if w.outside.isNested(name) {
			w.kept[path] = true
		} else {
			newest[path] = to
		}
	}
	if len(w.steps) == 0 {
		return nil, nil
	}
	tip := w.steps[len(w.steps)-1].To
	if err := w.contents.add(tip, newest); err != nil {
		return nil, err
	}
	open, added := map[string]bool{}, []string{}
	for path := range newest {
		now := w.contents.of(tip, path)
		switch {
		case now == w.at(path):
		case w.outside.unlooked[w.contents.repo.prefix+path]:
			w.kept[path] = now != (file{}) // what a sparse checkout leaves out is not removed
		default:
			open[path] = true
		}
		if w.at(path) == (file{}) {
			added = append(added, path)
		}
	}
	ignored, err := w.contents.repo.ignored(w.contents.index, added)
	for _, path := range ignored {
		delete(open, path)
	}
	return open, err
}

// ignored are those of some paths that the user's git ignores.
func (r *repository) ignored(index string, paths []string) (list []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var input bytes.Buffer
	for _, path := range paths {
		input.WriteString(r.prefix + path + "\x00")
	}
	out, err := r.git(run{args: []string{"check-ignore", "-z", "--stdin"}, input: &input, env: []string{"GIT_INDEX_FILE=" + index}})
	if code := exitCode(err); code == 1 || code == 128 && strings.Contains(err.Error(), "beyond a symbolic link") {
		return nil, nil
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		list = append(list, strings.TrimPrefix(path, r.prefix))
	}
	return list, err
}

// at is a path as the branch has it, with the commits so far.
func (w *work) at(path string) file {
	path = w.contents.repo.prefix + path
	if now, changed := w.now[path]; changed {
		return now
	}
	return w.head[path]
}

// apply takes the steps with these keys, in their order, and gives the paths that change,
// by their names in the repository.
func (w *work) apply(keys []string) (map[string]file, error) {
	changed, failed := map[string]file{}, map[string]bool{}
	for _, key := range keys {
		for i, s := range w.steps {
			if s.Key != key {
				continue
			}
			for _, c := range s.Changes {
				from, open := w.from[c.Path]
				if !open || i < from {
					continue
				}
				after := w.contents.of(s.To, c.Path)
				merged, ok, err := w.contents.merge(w.contents.of(s.From, c.Path), w.at(c.Path), after, w.all)
				if err != nil {
					return nil, err
				}
				if !ok && !w.all {
					failed[c.Path] = true
					continue
				}
				if !ok {
					merged = after
				}
				if merged != w.at(c.Path) {
					name := w.contents.repo.prefix + c.Path
					w.now[name], changed[name] = merged, merged
				}
			}
		}
	}
	if len(failed) > 0 {
		return nil, conflicts(slices.Sorted(maps.Keys(failed)))
	}
	return changed, nil
}
