package ignore_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// oracle is a repository whose ignore rules the real git is asked about.
type oracle struct {
	t      *testing.T
	top    string
	global string
	config []string
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{t: t, top: filepath.Join(t.TempDir(), "top")}
	o.global = filepath.Join(filepath.Dir(o.top), "global")
	o.config = []string{"-c", "core.excludesFile=" + o.global}
	o.git(nil, "init", "-q", "--template=", o.top)
	return o
}

func (o *oracle) git(stdin []byte, args ...string) []byte {
	o.t.Helper()
	cmd := exec.Command("git", append(append([]string(nil), o.config...), args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(o.top),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C"}
	cmd.Dir = filepath.Dir(o.top)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// check-ignore exits 1 when nothing is ignored.
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 && stderr.Len() == 0 {
		err = nil
	}
	if err != nil {
		o.t.Fatalf("git %q: %v\n%s", args, err, stderr.Bytes())
	}
	return out
}

func (o *oracle) write(path string, data string) {
	o.t.Helper()
	full := filepath.Join(o.top, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(data), 0o666); err != nil {
		o.t.Fatal(err)
	}
}

// ask returns git's deciding rule for each path as "source:line", "" for none.
func (o *oracle) ask(paths []string) map[string]string {
	o.t.Helper()
	// "./" keeps a leading colon from being pathspec magic.
	stdin := []byte("./" + strings.Join(paths, "\x00./") + "\x00")
	out := o.git(stdin, "-C", o.top, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		o.t.Fatalf("check-ignore: %d fields for %d paths", len(fields), len(paths))
	}
	answers := map[string]string{}
	for i := 0; i+3 < len(fields); i += 4 {
		path := strings.TrimPrefix(fields[i+3], "./")
		answers[path] = ""
		if fields[i] != "" {
			answers[path] = fields[i] + ":" + fields[i+1] + ":" + fields[i+2]
		}
	}
	return answers
}

// lists reads the rules of a directory as a workspace walk would.
func (o *oracle) files(dir string) ignore.Files {
	var f ignore.Files
	name := filepath.Join(dir, ".gitignore")
	if data, err := os.ReadFile(filepath.Join(o.top, name)); err == nil {
		f.Git = ignore.Parse(name, data)
	}
	return f
}

func (o *oracle) matcher(ignoreCase bool) *ignore.Matcher {
	read := func(label, path string) *ignore.List {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		return ignore.Parse(label, data)
	}
	top := o.files("")
	top.Exclude = read(".git/info/exclude", filepath.Join(o.top, ".git/info/exclude"))
	return ignore.New(read(o.global, o.global), ignoreCase, top)
}

// paths lists the tree below the top level, without .git.
func (o *oracle) paths() (paths []string, isDir map[string]bool) {
	isDir = map[string]bool{}
	err := filepath.WalkDir(o.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if rel, _ := filepath.Rel(o.top, path); rel != "." {
			paths = append(paths, rel)
			isDir[rel] = d.IsDir()
		}
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return paths, isDir
}

// compare holds every path against git and returns how many a rule decided.
func (o *oracle) compare(paths []string, isDir map[string]bool, ignoreCase bool) int {
	o.t.Helper()
	want := o.ask(paths)
	mine := ignore.NewPaths(o.matcher(ignoreCase), o.files)
	for _, path := range paths {
		got := ""
		v := mine.Match(path, isDir[path])
		if rule := v.Rule(); rule != nil {
			got = rule.Source + ":" + strconv.Itoa(rule.Line) + ":" + rule.Text
			if v.Ignored == rule.Negated {
				o.t.Errorf("%q: ignored is %v by %q", path, v.Ignored, rule.Text)
			}
		}
		if got != want[path] {
			o.t.Errorf("%q (directory %v, ignoreCase %v): git says %q, we say %q",
				path, isDir[path], ignoreCase, want[path], got)
		}
	}
	decided := 0
	for _, rule := range want {
		if rule != "" {
			decided++
		}
	}
	return decided
}

// versionsDiffer finds "**" after nothing but literals: see the package comment.
var versionsDiffer = regexp.MustCompile(`^!?[^*?\[\\]*[^*?\[\\/!]\*\*`)

// generator makes patterns that are likely to match its names.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.Intn(len(from))] }

func (g generator) name() string {
	var b strings.Builder
	for range 1 + g.Intn(3) {
		b.WriteString(g.pick("a", "b", "c", "A", "B", "-", "!", "#", " ", ".", "[", "]", "*", "\\", "\n", "é", "\xff", "a", "b"))
	}
	name := b.String()
	if name == "." || name == ".." || strings.EqualFold(name, ".git") {
		return "a"
	}
	return name
}

func (g generator) bracket() string {
	var b strings.Builder
	b.WriteString("[" + g.pick("", "", "", "!", "^", "]", "-"))
	for range 1 + g.Intn(3) {
		b.WriteString(g.pick("a", "b", "a-c", "A-C", "[:alpha:]", "[:upper:]", "[:space:]", "[:punct:]",
			"\\]", "\\\\", "-", "[", "[:", "[:no:]", "[:alpha:", "\\a-c", "a-\\c", "/", "é", "\xff", "!", ".", "A"))
	}
	return b.String() + g.pick("]", "]", "]", "]", "]", "")
}

func (g generator) component() string {
	switch g.Intn(10) {
	case 0:
		return "**"
	case 1:
		return "*"
	}
	var b strings.Builder
	for range 1 + g.Intn(3) {
		switch g.Intn(12) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString("?")
		case 2:
			b.WriteString(g.bracket())
		case 3:
			b.WriteString("\\" + g.pick("a", "A", "b", "*", "?", "[", "\\", " ", "!", "#", "/", ""))
		case 4:
			b.WriteString("?**")
		default:
			b.WriteString(g.pick("a", "b", "c", "A", "B", "-", "!", "#", " ", ".", "]", "é", "\xff", "\t", "\r"))
		}
	}
	return b.String()
}

func (g generator) line() string {
	switch g.Intn(30) {
	case 0:
		return g.pick("", "#", "# a", "!", "/", "//", "!/", " ", "\\", "\\ ", "**", "/**", "**/", "/*", "!/*", "a\x00b", "\xef\xbb\xbfa", "*/", "/**/", "**/**")
	}
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "!", "!", "\\!", "\\#"))
	b.WriteString(g.pick("", "", "", "/"))
	for range g.Intn(3) {
		b.WriteString(g.component() + g.pick("/", "/", "/", "\\/", "//"))
	}
	b.WriteString(g.component())
	b.WriteString(g.pick("", "", "", "/"))
	b.WriteString(g.pick("", "", "", "", " ", "  ", "\\ ", "\\  ", "\t", "\r", " \r", "\\"))
	return b.String()
}

func (g generator) list() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "\xef\xbb\xbf"))
	for range 1 + g.Intn(6) {
		line := g.line()
		for versionsDiffer.MatchString(line) {
			line = g.line()
		}
		b.WriteString(line + g.pick("\n", "\n", "\n", "\r\n"))
	}
	return strings.TrimSuffix(b.String(), g.pick("", "\n"))
}

func TestRandomRulesAgainstGit(t *testing.T) {
	rounds, paths, decided := 120, 0, 0
	if testing.Short() {
		rounds = 20
	}
	o := newOracle(t)
	g := generator{rand.New(rand.NewSource(1))}
	for round := range rounds {
		if round%20 == 0 {
			clearTree(t, o.top)
			for range 120 {
				dir := ""
				for range g.Intn(4) {
					dir = filepath.Join(dir, g.name())
				}
				// A name may be taken by an entry of the other kind.
				if os.MkdirAll(filepath.Join(o.top, dir), 0o777) == nil {
					_ = os.WriteFile(filepath.Join(o.top, dir, g.name()), nil, 0o666)
				}
			}
		}
		tree, isDir := o.paths()
		rules := map[string]string{".gitignore": g.list(), ".git/info/exclude": g.list(), "../global": g.list()}
		for range 3 {
			if dir := tree[g.Intn(len(tree))]; isDir[dir] {
				rules[dir+"/.gitignore"] = g.list()
			}
		}
		for path, data := range rules {
			o.write(path, data)
		}
		ignoreCase := g.Intn(3) == 0
		o.config = append(o.config[:2], "-c", fmt.Sprintf("core.ignoreCase=%v", ignoreCase))
		paths += len(tree)
		decided += o.compare(tree, isDir, ignoreCase)
		for path := range rules {
			if err := os.Remove(filepath.Join(o.top, path)); err != nil {
				t.Fatal(err)
			}
		}
		if t.Failed() {
			t.Fatalf("round %d with the rules %q", round, rules)
		}
	}
	if decided < paths/5 {
		t.Errorf("the rules decided only %d of %d paths", decided, paths)
	}
	t.Logf("%d paths, %d of them decided by a rule", paths, decided)
}

func clearTree(t *testing.T, top string) {
	t.Helper()
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(top, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// Every byte against every class, as written and folded.
func TestBracketsAgainstGit(t *testing.T) {
	o := newOracle(t)
	var patterns []string
	for _, class := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit") {
		patterns = append(patterns, "[[:"+class+":]]", "[^[:"+class+":]]")
	}
	patterns = append(patterns, "[a-f]", "[A-F]", "[!A-f]", "[A]", "[aA]", "\\A", "\\a", "[\\A]", "[]-a]", "[a-]", "[--0]",
		"[[:alpha:]-z]", "[a-c-e]", "[[:]", "[[:a]", "[[:a]]", "[]", "[!]", "[]]", "[!]]", "[^]a]", "[\xc0-\xff]", "[z-a]", "[/]", "[!/]")
	var paths []string
	for b := 1; b < 256; b++ {
		if b != '/' && b != '.' {
			paths = append(paths, string([]byte{byte(b)}))
		}
	}
	for _, path := range paths {
		o.write(path, "")
	}
	for _, ignoreCase := range []bool{false, true} {
		o.config = append(o.config[:2], "-c", fmt.Sprintf("core.ignoreCase=%v", ignoreCase))
		for _, pattern := range patterns {
			o.write(".gitignore", pattern+"\n")
			o.compare(paths, map[string]bool{}, ignoreCase)
			if t.Failed() {
				t.Fatalf("pattern %q", pattern)
			}
		}
	}
}
