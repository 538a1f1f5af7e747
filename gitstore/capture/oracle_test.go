package capture

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// oracle is the tree that git computes for the workspace, with filters off and
// the files of nested repositories as plain files, and with what is held already.
func (l *lab) oracle(held ...string) gitstore.ID {
	l.t.Helper()
	o := &oracle{lab: l, settings: l.sources.Settings.withDefaults(), held: held}
	o.directory("", "")
	o.ask()
	return o.tree()
}

// keeps is what the oracle's tree holds.
func (l *lab) keeps(held ...string) []string {
	o := &oracle{lab: l, settings: l.sources.Settings.withDefaults(), held: held}
	o.directory("", "")
	o.ask()
	return o.kept
}

type oracle struct {
	*lab
	settings Settings
	asked    map[string][]string // by repository's directory: files, relative to it
	kept     []string            // from the root
	held     []string            // what git would track
}

// directory gathers the candidates of a directory by repository.
func (o *oracle) directory(dir, repo string) {
	if o.asked == nil {
		o.asked = map[string][]string{}
	}
	entries, err := os.ReadDir(o.path(dir))
	o.must(err)
	for _, e := range entries {
		path := treepath.Join(dir, e.Name())
		switch {
		case e.Name() == ".git":
		case documents.NeverCaptured(e.Name()):
		case e.IsDir():
			if _, err := os.Stat(filepath.Join(o.path(path), ".git", "HEAD")); err == nil {
				if !o.ignored(repo, path) {
					o.directory(path, path)
				} else {
					o.keepHeld(path)
				}
				continue
			}
			o.directory(path, repo)
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			o.asked[repo] = append(o.asked[repo], path)
		}
	}
}

// keepHeld keeps, of a repository that is ignored as a whole, what is held.
func (o *oracle) keepHeld(dir string) {
	for _, path := range o.held {
		info, err := os.Lstat(o.path(path))
		if !strings.HasPrefix(path, dir+"/") || err != nil {
			continue
		}
		if link := info.Mode()&fs.ModeSymlink != 0; link || info.Mode().IsRegular() && info.Size() <= o.settings.SizeCap {
			o.kept = append(o.kept, path)
		}
	}
}

// ignored asks without the index: what is a directory now may be a file there,
// and a file a directory, which check-ignore takes for tracked.
func (o *oracle) ignored(repo, path string) bool {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, repo), "/")
	return len(o.gitWith(o.path(repo), nil, []byte("./"+rel+"\x00"), "check-ignore", "--no-index", "--stdin", "-z")) > 0
}

// ask drops what git ignores, what is too large and what is secret.
func (o *oracle) ask() {
	secrets := secretnames.Compile(o.settings.Secrets)
	for repo, paths := range o.asked {
		var stdin bytes.Buffer
		for _, path := range paths {
			stdin.WriteString("./" + strings.TrimPrefix(strings.TrimPrefix(path, repo), "/") + "\x00")
		}
		ignored := set(o.gitWith(o.path(repo), nil, stdin.Bytes(), "check-ignore", "--no-index", "--stdin", "-z"))
		tracked := set(o.git(o.path(repo), "ls-files", "-z"))
		for _, path := range paths {
			rel := strings.TrimPrefix(strings.TrimPrefix(path, repo), "/")
			info, err := os.Lstat(o.path(path))
			o.must(err)
			regular, rule := info.Mode().IsRegular(), !slices.Contains(o.held, path)
			switch {
			case rule && ignored["./"+rel] && !tracked[rel]:
			case regular && info.Size() > o.settings.SizeCap:
			case rule && regular && !tracked[rel] && secrets.Match(treepath.Parent(path), filepath.Base(rel)):
			default:
				o.kept = append(o.kept, path)
			}
		}
	}
}

func set(list []byte) map[string]bool {
	out := map[string]bool{}
	for name := range strings.SplitSeq(string(list), "\x00") {
		out[name] = true
	}
	return out
}

func (o *oracle) tree() gitstore.ID {
	o.t.Helper()
	var names, index bytes.Buffer
	var regular []string
	for _, path := range o.kept {
		info, err := os.Lstat(o.path(path))
		o.must(err)
		if info.Mode().IsRegular() {
			regular = append(regular, path)
			names.WriteString(quoteC(path) + "\n")
			continue
		}
		target, err := os.Readlink(o.path(path))
		o.must(err)
		id := strings.TrimSpace(string(o.gitWith(o.root, nil, []byte(target), "hash-object", "--no-filters", "--stdin")))
		fmt.Fprintf(&index, "120000 %s\t%s\x00", id, path)
	}
	ids := strings.Fields(string(o.gitWith(o.root, nil, names.Bytes(), "hash-object", "--no-filters", "--stdin-paths")))
	for i, path := range regular {
		info, err := os.Lstat(o.path(path))
		o.must(err)
		mode := "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		fmt.Fprintf(&index, "%s %s\t%s\x00", mode, ids[i], path)
	}
	aside := filepath.Join(o.home, "aside.git")
	if _, err := os.Stat(aside); err != nil {
		o.git(o.home, "init", "-q", "--bare", aside)
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(aside, "oracle"), "GIT_DIR=" + aside}
	o.must(os.RemoveAll(filepath.Join(aside, "oracle")))
	o.gitWith(o.root, env, index.Bytes(), "update-index", "-z", "--index-info")
	id, err := gitstore.ParseID(strings.TrimSpace(string(o.gitWith(o.root, env, nil, "write-tree", "--missing-ok"))))
	o.must(err)
	return id
}

// quoteC quotes a path as hash-object --stdin-paths reads it.
func quoteC(path string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(path); i++ {
		if c := path[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			out.WriteByte(c)
		} else {
			out.WriteString(`\` + fmt.Sprintf("%03s", strconv.FormatUint(uint64(c), 8)))
		}
	}
	out.WriteByte('"')
	return out.String()
}
