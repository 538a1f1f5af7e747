package capture

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// TestRandomEdits makes random edits in a workspace, all transitions between
// absent, file, executable, link, directory, nested repository, ignored,
// skipped and special file among them, and changes of the rules. After each
// step a full walk, one that goes by directories' times, one without any memory,
// and a capture of exactly the changed paths must give the tree that git computes.
func TestRandomEdits(t *testing.T) {
	seeds, steps := 5, 25
	if testing.Short() {
		seeds, steps = 2, 15
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{SizeCap: 64, FileBudget: -1, ByteBudget: -1})
			l.gitInit()
			g := &generator{lab: l, rand: rand.New(rand.NewPCG(uint64(seed), 7))}
			byPaths, byTimes := l.newScanner(), l.newScanner()
			var filter *Filter
			var held []string
			for step := range steps {
				g.did, g.dirty = nil, nil
				for range 1 + g.rand.IntN(4) {
					g.edit()
				}
				want := l.oracle(held...)
				walked := l.walk()
				if filter == nil || filter.rules != l.rules || walked.RulesChanged {
					filter = NewFilter(l.rules, l.scanner.Known())
				}
				for path := range l.files(walked) {
					if dir := filepath.Dir(path); dir != "." && filter.Ignored(dir) {
						t.Fatalf("step %d: the filter ignores %q, where %q is captured\nedits: %s", step, dir, path, strings.Join(g.did, "\n"))
					}
				}
				keep := l.scanner
				l.scanner = byPaths
				patched := l.paths(g.dirty...)
				l.scanner = byTimes
				timed := l.capture(Dirty{All: true}, Options{ByTimes: true})
				l.scanner = l.newScanner()
				fresh := l.capture(Dirty{All: true}, Options{Held: NewHeld(slices.Clone(held))})
				l.scanner = keep
				for how, got := range map[string]*Result{"full walk": walked, "dirty paths": patched, "walk by times": timed, "first walk": fresh} {
					if got.Tree != want {
						t.Fatalf("step %d, %s: tree %s, git says %s\nedits: %s\ngit keeps: %q\ncaptured: %q\nskipped: %v\ndirty: %q",
							step, how, got.Tree, want, strings.Join(g.did, "\n"), l.keeps(held...), l.files(got), got.Skipped, g.dirty)
					}
					if a, b := string(documents.SkippedDocument(got.Skipped)), string(documents.SkippedDocument(fresh.Skipped)); a != b {
						t.Fatalf("step %d, %s: skipped differ: %s\n%s\nedits: %s", step, how, a, b, strings.Join(g.did, "\n"))
					}
					if a, b := string(got.Modes.Document()), string(fresh.Modes.Document()); a != b {
						t.Fatalf("step %d, %s: modes differ: %s\n%s\nedits: %s", step, how, a, b, strings.Join(g.did, "\n"))
					}
					g.checkEligible(got)
					if a, b := string(got.Rules), string(fresh.Rules); a != b {
						t.Fatalf("step %d, %s: rules differ: %s\n%s\nedits: %s", step, how, a, b, strings.Join(g.did, "\n"))
					}
				}
				held = slices.Collect(maps.Keys(l.files(walked)))
			}
		})
	}
}

// generator makes random edits and notes the paths that they change.
type generator struct {
	*lab
	rand  *rand.Rand
	dirty []string
	did   []string
}

func pick[T any](g *generator, list ...T) T { return list[g.rand.IntN(len(list))] }

func (g *generator) name() string {
	return pick(g, "a", "b", "c", "x.o", "y.o", "dist", ".env", "k.pem", "ta\tb", "-n", ":(glob)", "\xffx", "nul", "dot.", "e\u0301", "\u00e9")
}

// place is a path at a random depth; it may or may not exist.
func (g *generator) place() string {
	path := g.name()
	for range g.rand.IntN(3) {
		path = pick(g, "d", "e", "dist", "sub") + "/" + path
	}
	return path
}

func (g *generator) touch(path string) { g.dirty = append(g.dirty, path) }

func (g *generator) note(format string, args ...any) {
	g.did = append(g.did, fmt.Sprintf(format, args...))
}

// clear makes path absent and its parents directories.
func (g *generator) clear(path string) {
	parent := filepath.Dir(path)
	for parent != "." {
		if info, err := os.Lstat(g.path(parent)); err == nil && !info.IsDir() {
			g.must(os.Remove(g.path(parent)))
			g.touch(parent)
		}
		parent = filepath.Dir(parent)
	}
	g.must(os.RemoveAll(g.path(path)))
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(g.path(dir)); err != nil {
			g.touch(dir)
		}
	}
	g.must(os.MkdirAll(filepath.Dir(g.path(path)), 0o755))
	g.touch(path)
}

func (g *generator) content() string {
	return strings.Repeat(pick(g, "a", "b", "c\r\n", "\x00"), pick(g, 1, 1, 1, 2, 21, 64, 65))
}

func (g *generator) edit() {
	edits := []func(){
		g.file, g.file, g.file, g.rewrite, g.rewrite, g.executable, g.link, g.directory, g.remove,
		g.rename, g.nestedRepository, g.unnest, g.fifo, g.ignoreFile, g.ignoreFile, g.outsideRules, g.track, g.untrack, g.chmod,
		g.hardLink, g.hardLink,
	}
	edits[g.rand.IntN(len(edits))]()
}

func (g *generator) file() {
	path := g.place()
	g.clear(path)
	g.must(os.WriteFile(g.path(path), []byte(g.content()), pick(g, os.FileMode(0o644), 0o644, 0o755, 0o600)))
	g.note("file %q", path)
}

// rewrite changes a file's content in place, often to the same size with its
// mtime put back.
func (g *generator) rewrite() {
	path := g.existing(func(info os.FileInfo) bool { return info.Mode().IsRegular() && info.Size() > 0 })
	if path == "" {
		return
	}
	info, err := os.Stat(g.path(path))
	g.must(err)
	g.must(os.WriteFile(g.path(path), []byte(strings.Repeat(pick(g, "p", "q"), int(info.Size()))), 0o644))
	g.must(os.Chtimes(g.path(path), time.Time{}, info.ModTime()))
	g.touch(path)
	g.note("rewrite %q", path)
}

func (g *generator) existing(want func(os.FileInfo) bool) string {
	var found []string
	g.must(filepath.Walk(g.root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() && info.Name() == ".git" {
			return filepath.SkipDir
		}
		if path != g.root && want(info) {
			found = append(found, filepath.ToSlash(strings.TrimPrefix(path, g.root+"/")))
		}
		return nil
	}))
	if len(found) == 0 {
		return ""
	}
	return pick(g, found...)
}

func (g *generator) executable() {
	path := g.existing(func(info os.FileInfo) bool { return info.Mode().IsRegular() })
	if path == "" {
		return
	}
	g.must(os.Chmod(g.path(path), 0o755))
	g.touch(path)
	g.note("chmod +x %q", path)
}

func (g *generator) chmod() {
	path := g.existing(func(info os.FileInfo) bool { return info.IsDir() || info.Mode().IsRegular() })
	if path == "" {
		return
	}
	g.must(os.Chmod(g.path(path), pick(g, os.FileMode(0o700), 0o755, 0o750)))
	g.touch(path)
	g.note("chmod %q", path)
}

func (g *generator) link() {
	path := g.place()
	g.clear(path)
	g.must(os.Symlink(pick(g, "a", "nowhere", "/etc", "d"), g.path(path)))
	g.note("link %q", path)
}

// hardLink gives a file another name, of which alone a watcher is told; so it is
// with a later write through either.
func (g *generator) hardLink() {
	from := g.existing(func(info os.FileInfo) bool {
		return info.Mode().IsRegular() && info.Name() != ignore.GitName && info.Name() != ignore.UmbraName
	})
	to := g.place()
	if from == "" || strings.HasPrefix(from+"/", to+"/") || strings.HasPrefix(to+"/", from+"/") {
		return
	}
	g.clear(to)
	if _, err := os.Lstat(g.path(from)); err != nil {
		return
	}
	g.must(os.Link(g.path(from), g.path(to)))
	g.note("hard link %q to %q", from, to)
}

func (g *generator) directory() {
	path := g.place()
	g.clear(path)
	g.must(os.Mkdir(g.path(path), 0o755))
	g.note("directory %q", path)
}

func (g *generator) remove() {
	path := g.existing(func(os.FileInfo) bool { return true })
	if path == "" {
		return
	}
	g.must(os.RemoveAll(g.path(path)))
	g.touch(path)
	g.note("remove %q", path)
}

func (g *generator) rename() {
	from := g.existing(func(os.FileInfo) bool { return true })
	to := g.place()
	if from == "" || strings.HasPrefix(to+"/", from+"/") || strings.HasPrefix(from+"/", to+"/") {
		return
	}
	g.clear(to)
	if _, err := os.Lstat(g.path(from)); err != nil {
		return
	}
	g.must(os.Rename(g.path(from), g.path(to)))
	g.touch(from)
	g.note("rename %q to %q", from, to)
}

func (g *generator) nestedRepository() {
	path := pick(g, "sub", "d/sub", "dist", "e")
	if _, err := os.Stat(g.path(path + "/.git")); err == nil {
		return
	}
	if info, err := os.Lstat(g.path(path)); err != nil || !info.IsDir() {
		g.clear(path)
		g.must(os.Mkdir(g.path(path), 0o755))
	}
	g.git(g.path(path), "init", "-q", ".")
	g.touch(path + "/.git")
	g.note("git init %q", path)
}

func (g *generator) unnest() {
	for _, path := range []string{"sub", "d/sub", "dist", "e"} {
		if _, err := os.Stat(g.path(path + "/.git/HEAD")); err == nil && g.rand.IntN(2) == 0 {
			g.must(os.RemoveAll(g.path(path + "/.git")))
			g.touch(path + "/.git")
			g.note("rm -rf %q/.git", path)
		}
	}
}

func (g *generator) fifo() {
	path := g.place()
	g.clear(path)
	g.must(unix.Mkfifo(g.path(path), 0o644))
	g.note("fifo %q", path)
}

func (g *generator) patterns() string {
	var out strings.Builder
	for range 1 + g.rand.IntN(3) {
		out.WriteString(pick(g, "*.o", "dist/", "dist", "!x.o", "/a", "sub/*", "!sub/b", "d/**/b", "*", "!*/", "!b", ".gitignore", "e/", "# none", "") + "\n")
	}
	return out.String()
}

func (g *generator) ignoreFile() {
	path := pick(g, ".gitignore", "d/.gitignore", "sub/.gitignore", "d/sub/.gitignore")
	if g.rand.IntN(4) == 0 {
		if os.Remove(g.path(path)) == nil {
			g.touch(path)
			g.note("remove %q", path)
		}
		return
	}
	g.clear(path)
	g.write(path, g.patterns())
	g.note("ignore file %q", path)
}

func (g *generator) outsideRules() {
	file := pick(g, g.sources.Excludes, g.path(".git/info/exclude"), g.path("sub/.git/info/exclude"))
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return
	}
	g.must(os.WriteFile(file, []byte(g.patterns()), 0o644))
	g.note("rules %q", file)
}

// holder is the repository that holds a path, as a directory.
func (g *generator) holder(path string) string {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(g.path(dir + "/.git/HEAD")); err == nil {
			return dir
		}
	}
	return ""
}

func (g *generator) track() {
	path := g.existing(func(info os.FileInfo) bool { return info.Mode().IsRegular() })
	if path == "" {
		return
	}
	repo := g.holder(path)
	rel := strings.TrimPrefix(strings.TrimPrefix(path, repo), "/")
	g.git(g.path(repo), "--literal-pathspecs", "add", "-f", "--", rel)
	g.note("git add -f %q in %q", rel, repo)
}

func (g *generator) untrack() {
	repo := pick(g, "", "", "sub", "e")
	if _, err := os.Stat(g.path(repo + "/.git/HEAD")); err != nil {
		return
	}
	tracked := strings.Split(strings.TrimRight(string(g.git(g.path(repo), "ls-files", "-z")), "\x00"), "\x00")
	if tracked[0] == "" {
		return
	}
	path := pick(g, tracked...)
	g.git(g.path(repo), "--literal-pathspecs", "rm", "-q", "-f", "--cached", "--", path)
	g.note("git rm --cached %q in %q", path, repo)
}

// checkEligible asks the recorded rules about every file on disk: what was
// captured is eligible, what was not is not, or is listed as skipped.
func (g *generator) checkEligible(r *Result) {
	g.t.Helper()
	captured := g.files(r)
	recorded, err := documents.ParseRules(r.Rules, func(path string) ([]byte, bool, error) {
		content, ok := captured[path]
		return []byte(content), ok, nil
	})
	g.must(err)
	skipped, err := documents.ParseSkipped(documents.SkippedDocument(r.Skipped))
	g.must(err)
	g.must(filepath.Walk(g.root, func(at string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0 {
			return err
		}
		path := filepath.ToSlash(strings.TrimPrefix(at, g.root+"/"))
		mode := gitstore.ModeFile
		if info.Mode()&os.ModeSymlink != 0 {
			mode = gitstore.ModeSymlink
		}
		ok, reason, err := recorded.Eligible(path, documents.Candidate{Mode: mode, Size: info.Size()})
		_, left := skipped.Covers(path)
		if _, have := captured[path]; have != (ok && !left) {
			g.t.Fatalf("%q: captured %v, eligible %v (%s), skipped %v\nrules: %s\nedits: %s",
				path, have, ok, reason, left, r.Rules, strings.Join(g.did, "\n"))
		}
		return err
	}))
}
