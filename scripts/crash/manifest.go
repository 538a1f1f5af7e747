package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A manifest is what a workspace holds: of each path its mode as Git writes it,
// and the id of its content.
type manifest map[string]string

// ignored is the directory of each workspace that no snapshot holds.
const ignored = "ignored"

// scratch begins the names of what a restore has staged or set aside beside the
// files, where the home is on another disk: until the next idle point, after which
// leftovers looks for it.
const scratch = ".umbra-"

// survey reads a workspace, every byte of it. What is ignored comes apart.
func survey(root string) (held, kept manifest, err error) {
	held, kept = manifest{}, manifest{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if e.IsDir() || strings.HasPrefix(e.Name(), scratch) {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		is, err := entry(path, e)
		if strings.HasPrefix(rel, ignored+"/") {
			kept[rel] = is
		} else {
			held[rel] = is
		}
		return err
	})
	return held, kept, err
}

func entry(path string, e fs.DirEntry) (string, error) {
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return "120000 " + blob([]byte(target)), err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	info, err := e.Info()
	if err != nil {
		return "", err
	}
	if info.Mode()&0o100 != 0 {
		return "100755 " + blob(content), nil
	}
	return "100644 " + blob(content), nil
}

// blob is what Git calls a content.
func blob(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// listed reads what `git ls-tree -r -z` prints.
func listed(text string) manifest {
	m := manifest{}
	for line := range strings.SplitSeq(text, "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		if fields := strings.Fields(about); ok && len(fields) == 3 {
			m[path] = fields[0] + " " + fields[2]
		}
	}
	return m
}

// below reports whether a path is one of some, or below one, or a file where one has
// a directory.
func below(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/") || strings.HasPrefix(root, path+"/")
	})
}

// without is the manifest without some paths and what is below them or in their way; only is the
// rest of it.
func (m manifest) without(roots []string) manifest {
	rest := maps.Clone(m)
	maps.DeleteFunc(rest, func(path, _ string) bool { return below(path, roots) })
	return rest
}

func (m manifest) only(roots []string) manifest {
	rest := maps.Clone(m)
	maps.DeleteFunc(rest, func(path, _ string) bool { return !below(path, roots) })
	return rest
}

// unfolded puts paths in the place of each directory that stands for many: those in it
// that are not as they were to be, if they are no more than the command has said.
func (m manifest) unfolded(left []leftPath, to manifest) []string {
	var list []string
	said := map[string]int{}
	for _, l := range left {
		if said[l.path] += l.count; l.count == 0 {
			list = append(list, l.path)
		}
	}
	both := maps.Clone(to)
	maps.Copy(both, m)
	for folded, count := range said {
		in := both.only([]string{strings.TrimSuffix(folded, "/")})
		maps.DeleteFunc(in, func(path, _ string) bool { return m[path] == to[path] })
		if len(in) <= count {
			list = slices.AppendSeq(list, maps.Keys(in))
		}
	}
	return list
}

// differs lists where two manifests differ, some of it.
func (m manifest) differs(o manifest) string {
	var lines []string
	for path, is := range m {
		if o[path] != is {
			lines = append(lines, fmt.Sprintf("%s: %s, not %s", path, is, o[path]))
		}
	}
	for path, is := range o {
		if _, there := m[path]; !there {
			lines = append(lines, fmt.Sprintf("%s: gone, not %s", path, is))
		}
	}
	slices.Sort(lines)
	if len(lines) > 6 {
		lines = append(lines[:6], fmt.Sprintf("and %d more", len(lines)-6))
	}
	return strings.Join(lines, "\n")
}
