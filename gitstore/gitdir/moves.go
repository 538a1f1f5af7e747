package gitdir

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Copy is a git directory that was copied.
type Copy struct {
	// GitDir is the copy, Source what it is a copy of.
	GitDir, Source string
	// Top and SourceTop are their work trees, "" for a bare one.
	Top, SourceTop string
	// Moves are the places that were copied with it, the innermost first.
	Moves []Move
}

// Move is a place on disk, and where the copy of it is.
type Move struct{ From, To string }

// Redirect has the settings of a copy lead to the copies of what they name. It returns
// what names a place of the source still: the copy lacks it, or it is a part of a command
// or of a hook.
func (c Copy) Redirect(ctx context.Context) (left []string, err error) {
	err = filepath.WalkDir(c.GitDir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(c.GitDir, at)
		if err != nil {
			return err
		}
		if e.IsDir() {
			// Submodules' settings lie below modules, whatever their names.
			if below == "." || below == "modules" || strings.HasPrefix(below, "modules/") && !isInner(at) {
				return nil
			}
			return fs.SkipDir
		}
		if name := e.Name(); name != "config" && name != "config.worktree" {
			return nil
		}
		if there, err := ownFile(at, e); !there || err != nil {
			return err
		}
		still, err := c.redirect(ctx, at, filepath.Join(c.Source, filepath.Dir(below)))
		left = append(left, still...)
		return err
	})
	left = append(left, c.hooks()...)
	slices.Sort(left)
	return slices.Compact(left), err
}

// ownFile has the settings in a file of the copy's own: git writes to what a link leads to,
// which may be the source's, or its user's. A link that leads to no file stays.
func ownFile(at string, e fs.DirEntry) (there bool, err error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular(), nil
	}
	st, err := os.Stat(at)
	if err != nil || !st.Mode().IsRegular() {
		return false, nil
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return false, nil // git can't read it either
	}
	if err := os.Remove(at); err != nil {
		return false, err
	}
	return true, os.WriteFile(at, text, st.Mode().Perm())
}

// largestHook is up to which size a hook is looked at: a larger one is no script.
const largestHook = 64 << 10

// hooks are those that name a place of the source in their text.
func (c Copy) hooks() (naming []string) {
	names, _ := os.ReadDir(filepath.Join(c.GitDir, "hooks")) // there need be none
	for _, e := range names {
		at := filepath.Join(c.GitDir, "hooks", e.Name())
		if st, err := os.Stat(at); err != nil || !st.Mode().IsRegular() || st.Size() > largestHook {
			continue
		}
		if text, err := os.ReadFile(at); err == nil && c.namesSource(string(text)) {
			naming = append(naming, "hooks/"+e.Name())
		}
	}
	return naming
}

// isInner tells of a directory that each git directory has, with no settings below it. A
// submodule may have its name.
func isInner(dir string) bool {
	if !slices.Contains([]string{"hooks", "info", "logs", "objects", "refs"}, filepath.Base(dir)) {
		return false
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(dir), "HEAD"))
	return err == nil
}

// redirect mends one file; source is the directory that it was copied from.
func (c Copy) redirect(ctx context.Context, file, source string) ([]string, error) {
	settings, err := list(ctx, file)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		now := c.meant(s, file, source)
		if now == "" {
			continue
		}
		if _, err := config(ctx, file, "--fixed-value", "--replace-all", s.key, now, s.value); err != nil {
			return nil, err
		}
	}
	// What these files include is in the copy, too.
	if settings, err = list(ctx, file, "--includes"); err != nil {
		return nil, err
	}
	var left []string
	for _, s := range settings {
		if c.namesSource(s.key) || c.namesSource(s.value) {
			left = append(left, s.key)
		}
	}
	return left, nil
}

type setting struct{ key, value string }

func list(ctx context.Context, file string, args ...string) ([]setting, error) {
	out, err := config(ctx, file, append(args, "--list", "-z")...)
	if err != nil {
		return nil, err
	}
	var all []setting
	for s := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(s, "\n")
		all = append(all, setting{key, value})
	}
	return all, nil
}

// meant is the value that a setting has to have in the copy, "" if it is right already.
func (c Copy) meant(s setting, file, source string) string {
	path, isURL := strings.CutPrefix(s.value, "file://")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return c.meantBeside(s, path, filepath.Dir(file), source)
	}
	to := c.moved(path)
	if to == "" && c.namesSource(path) && !c.namesSource(filepath.Clean(path)) {
		to = filepath.Clean(path) // git clone writes of ../x where it was called
	}
	if _, err := os.Lstat(to); to == "" || err != nil {
		return ""
	}
	if isURL {
		to = "file://" + to
	}
	return to
}

// meantBeside is meant for a relative path: from the copy it may lead to another place
// outside of what was copied.
func (c Copy) meantBeside(s setting, path, dir, source string) string {
	key := s.key[strings.LastIndexByte(s.key, '.')+1:]
	switch {
	case strings.HasPrefix(s.key, "include") && key == "path":
	case s.key == "core.hookspath", strings.HasPrefix(s.key, "remote.") && (key == "url" || key == "pushurl"):
		if c.Top != "" {
			dir, source = c.Top, c.SourceTop
		}
	default:
		return ""
	}
	was := filepath.Join(source, path)
	if _, err := os.Lstat(was); err != nil {
		return ""
	}
	to := c.moved(was)
	if to == "" {
		to = was
	}
	if _, err := os.Lstat(to); err != nil || to == filepath.Join(dir, path) {
		return ""
	}
	return to
}

// moved is where the copy of a path is, "" if it was not copied.
func (c Copy) moved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, m := range c.Moves {
		for _, at := range []string{filepath.Clean(path), real} {
			if below, ok := strings.CutPrefix(at+"/", strings.TrimSuffix(m.From, "/")+"/"); ok {
				return filepath.Join(m.To, below)
			}
		}
	}
	return ""
}

// namesSource tells whether a text holds the path of a place that was copied, and not
// only a longer name.
func (c Copy) namesSource(text string) bool {
	return slices.ContainsFunc(c.Moves, func(m Move) bool {
		for rest := strings.ReplaceAll(text, m.To, ""); ; {
			at := strings.Index(rest, m.From)
			if at < 0 {
				return false
			}
			rest = rest[at+len(m.From):]
			if rest == "" || !isNameRune(rest[0]) {
				return true
			}
		}
	})
}

func isNameRune(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
