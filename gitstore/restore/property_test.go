package restore

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/scripts/draws"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// edit is one thing that somebody does in a workspace.
type edit struct {
	kind, path, content string
}

func drawEdits(t *rapid.T, label string, most int) []edit {
	name := rapid.SampledFrom([]string{"a", "b", "c.log", "d", ".env"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "names"), "/")
	})
	one := rapid.Custom(func(t *rapid.T) edit {
		e := edit{path: path.Draw(t, "path")}
		e.kind = rapid.SampledFrom([]string{
			"file", "file", "file", "exec", "link", "dir", "remove", "remove", "fifo", "big", "ignore", "repository",
		}).Draw(t, "kind")
		e.content = rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "content")
		if e.kind == "ignore" {
			e.content = rapid.SampledFrom([]string{"", "*.log", "d/", "b", "*\n!a", "a/b"}).Draw(t, "rules")
		}
		return e
	})
	return rapid.SliceOfN(one, 0, most).Draw(t, label)
}

// do makes way and carries an edit out.
func (l *lab) do(e edit) {
	l.t.Helper()
	path := l.path(e.path)
	if e.kind == "ignore" {
		path += "/.gitignore"
	}
	if e.kind == "remove" {
		// RemoveAll would open, and wait for, a FIFO in the place of a directory.
		if _, err := os.Lstat(path); err == nil {
			l.must(os.RemoveAll(path))
		}
		return
	}
	for dir := filepath.Dir(path); dir != l.root; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			l.must(os.Remove(dir))
		}
	}
	l.must(os.MkdirAll(filepath.Dir(path), 0o755))
	info, err := os.Lstat(path)
	if err == nil && e.kind != "repository" && (e.kind != "dir" || !info.IsDir()) {
		l.must(os.RemoveAll(path))
	}
	switch e.kind {
	case "file", "ignore":
		l.must(os.WriteFile(path, []byte(e.content), 0o644))
	case "exec":
		l.must(os.WriteFile(path, []byte(e.content), 0o755))
		l.must(os.Chmod(path, 0o755))
	case "big":
		l.must(os.WriteFile(path, []byte(strings.Repeat("x", 101)), 0o644))
	case "link":
		l.must(os.Symlink("target"+e.content, path))
	case "dir":
		l.must(os.MkdirAll(path, 0o755))
	case "fifo":
		l.must(syscall.Mkfifo(path, 0o600))
	case "repository":
		if err == nil && !info.IsDir() {
			l.must(os.Remove(path))
		}
		for _, dir := range []string{"objects", "refs"} {
			l.must(os.MkdirAll(path+"/.git/"+dir, 0o755))
		}
		l.must(os.WriteFile(path+"/.git/HEAD", []byte("ref: refs/heads/main\n"), 0o644))
	}
}

// blobs lists a tree's files as the lab describes a disk.
func (l *lab) blobs(tree gitstore.ID) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	l.must(l.store.WalkTree(tree, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsDir() {
			return nil
		}
		data, err := l.store.Blob(e.ID)
		out[path] = map[gitstore.Mode]string{gitstore.ModeFile: "file ", gitstore.ModeExec: "exec ", gitstore.ModeSymlink: "link "}[e.Mode] + string(data)
		return err
	}))
	return out
}

// inodes are of all files, to see which were touched.
func (l *lab) inodes() map[string]string {
	l.t.Helper()
	out := map[string]string{}
	for path, is := range l.disk() {
		if is == "dir" {
			continue
		}
		var st unix.Stat_t
		l.must(unix.Lstat(l.path(path), &st))
		out[path] = fmt.Sprint(st.Ino, st.Mtim)
	}
	return out
}

func repositories(disk map[string]string) []string {
	var out []string
	for path := range disk {
		if treepath.Base(path) == ".git" {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// hiddenRules tells of ignore files that are ignored themselves: no restore
// puts them back, and they may hide what one has put back.
func hiddenRules(disk, captured map[string]string) bool {
	for path := range disk {
		if _, ok := captured[path]; treepath.Base(path) == ".gitignore" && !ok {
			return true
		}
	}
	return false
}

// TestAnyTwoTrees restores and takes back between states of all kinds.
func TestAnyTwoTrees(t *testing.T) {
	hazards.Held(t, hazards.H15, "from any state to any other: files where directories were and the reverse, modes alone, links")
	rapid.Check(t, anyTwoTrees(t))
}

// FuzzAnyTwoTrees is TestAnyTwoTrees, led by coverage.
func FuzzAnyTwoTrees(f *testing.F) { draws.Fuzz(f, anyTwoTrees(f)) }

func anyTwoTrees(t testing.TB) func(*rapid.T) {
	shared := newFastLab(t)
	shared.settings.SizeCap = 100
	round := 0
	return func(rt *rapid.T) {
		round++
		l := shared.another(rt, round)
		for _, e := range drawEdits(rt, "then", 12) {
			l.do(e)
		}
		to, reposThen := l.capture(), repositories(l.disk())
		for _, e := range drawEdits(rt, "now", 8) {
			l.do(e)
		}
		heldThen := slices.Collect(maps.Keys(l.blobs(to.Tree)))
		from := l.captureWith(heldThen)
		before, inodes := l.disk(), l.inodes()
		p := l.plan(from, to)
		options := PrepareOptions{Beside: rapid.Bool().Draw(rt, "beside")}
		l.apply(p, options)
		after := l.disk()
		l.same("plan", after, l.planned(before, p))
		l.table(p, from, to, before, after, inodes)
		held := slices.Concat(heldThen, slices.Collect(maps.Keys(l.blobs(from.Tree))))
		if slices.Equal(reposThen, repositories(before)) && !hiddenRules(before, l.blobs(from.Tree)) {
			l.sameSnapshot(p, to, l.captureWith(held))
		}
		undo := l.inverseFrom(l.captureWith(held), p)
		if len(undo.Keep) > 0 {
			rt.Errorf("undo keeps %v", undo.Keep)
		}
		l.apply(undo, options)
		if now := l.disk(); !sameFiles(now, before) {
			l.same("undo", now, before)
		}
	}
}

// another is a lab with an empty workspace and the same repository.
func (l *lab) another(t reporter, round int) *lab {
	n := &lab{t: t, base: l.base, root: fmt.Sprintf("%s/ws%d", l.base, round), store: l.store, settings: l.settings}
	n.must(os.Mkdir(n.root, 0o755))
	var err error
	n.ws, err = beneath.Open(n.root)
	n.must(err)
	t.Cleanup(func() {
		_ = n.ws.Close()
		_ = os.RemoveAll(n.root)
	})
	return n
}

// table holds the result against the table of the rules, path by path.
func (l *lab) table(p *Plan, from, to Side, before, after, inodes map[string]string) {
	l.t.Helper()
	s, t := l.blobs(from.Tree), l.blobs(to.Tree)
	now := l.inodes()
	for path, is := range before {
		if is == "dir" {
			if treepath.Base(path) == ".git" && after[path] != "dir" {
				l.t.Errorf("%q was removed", path)
			}
			continue
		}
		_, inS := s[path]
		_, inT := t[path]
		switch {
		case !inS || inT && s[path] == t[path]:
			if after[path] != is || now[path] != inodes[path] {
				l.t.Errorf("%q was touched: is %q, was %q", path, after[path], is)
			}
		case !inT && after[path] == "":
			if !l.eligible(path, s[path], to) {
				l.t.Errorf("%q was deleted, which T would not have held", path)
			}
		}
	}
	for path, is := range t {
		if _, kept := p.Covers(path); !kept && after[path] != is {
			l.t.Errorf("%q is %q, in T it is %q", path, after[path], is)
		}
	}
	for path, is := range s {
		kept, ok := p.Covers(path)
		switch _, inT := t[path]; {
		case inT:
		case ok && after[path] != is:
			l.t.Errorf("%q is kept (%s), and yet %q", path, kept.Reason, after[path])
		case !ok && after[path] != "" && after[path] != "dir" && t[path] == "":
			l.t.Errorf("%q is not in T, and neither kept nor deleted", path)
		}
	}
	for _, k := range p.Keep {
		l.justified(k, s, t, before, to)
	}
}

func (l *lab) eligible(path, is string, side Side) bool {
	l.t.Helper()
	if _, skipped := side.Skipped.Covers(path); skipped {
		return false
	}
	kind, content, _ := strings.Cut(is, " ")
	c := documents.Candidate{Mode: gitstore.ModeFile, Size: int64(len(content))}
	if kind == "link" {
		c.Mode = gitstore.ModeSymlink
	}
	ok, _, err := side.Rules.Eligible(path, c)
	l.must(err)
	return ok
}

// justified checks that a path is kept for a reason of the table.
func (l *lab) justified(k Kept, s, t, before map[string]string, to Side) {
	l.t.Helper()
	_, inS := s[k.Path]
	_, inT := t[k.Path]
	is, onDisk := before[k.Path]
	ok := false
	switch k.Reason {
	case ReasonOccupied:
		for path, is := range before {
			// In the way is what S does not hold, and what T would not have held.
			for top := k.Path; top != ""; top = treepath.Parent(top) {
				_, file := t[top]
				ok = ok || file && before[top] == "dir" && treepath.Covers(top, path) && s[path] == "" && is != "" ||
					file && treepath.Covers(top, path) && s[path] != "" && !l.eligible(path, s[path], to)
			}
		}
	case ReasonBlocked:
		// An empty directory of T may itself be what has no place.
		ok = slices.Contains(to.Modes.Empty, k.Path) && is != "dir" || belowFile(before, k.Path)
	case ReasonRevealed:
		ok = onDisk && !inS && !inT && is != "special"
	case ReasonIgnored:
		// What T holds is captured, and so replaced, whatever ignores it now.
		ok = inT && belowFile(before, k.Path) || inS && !inT && !l.eligible(k.Path, s[k.Path], to)
	default:
		// What S has skipped may lie above it.
		ok = inT && onDisk && !inS || inS && !inT && !l.eligible(k.Path, s[k.Path], to) || belowFile(before, k.Path)
	}
	if !ok {
		l.t.Errorf("%q is kept (%s): in S %q, in T %q, on disk %q", k.Path, k.Reason, s[k.Path], t[k.Path], is)
	}
}

// belowFile tells whether something above a path is no directory.
func belowFile(disk map[string]string, path string) bool {
	for dir := treepath.Parent(path); dir != ""; dir = treepath.Parent(dir) {
		if is, there := disk[dir]; there && is != "dir" {
			return true
		}
	}
	return false
}

// sameSnapshot checks that a snapshot now differs from T only where something
// was kept (I7).
func (l *lab) sameSnapshot(p *Plan, to, now Side) {
	l.t.Helper()
	l.must(l.store.DiffTrees(to.Tree, now.Tree, func(c gitstore.Change) error {
		if _, kept := p.Covers(c.Path); !kept {
			l.t.Errorf("a snapshot after the restore differs from T in %q, which was not reported", c.Path)
		}
		return nil
	}))
}
