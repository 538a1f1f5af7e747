package ignore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// tree gives the files of each directory from one map of path to content.
func tree(rules map[string]string) func(dir string) ignore.Files {
	list := func(path string) *ignore.List {
		return ignore.Parse(path, []byte(rules[path]))
	}
	return func(dir string) ignore.Files {
		prefix := ""
		if dir != "" {
			prefix = dir + "/"
		}
		_, nested := rules[prefix+".git"]
		return ignore.Files{
			Git: list(prefix + ".gitignore"), Umbra: list(prefix + ".umbraignore"),
			Exclude: list(prefix + ".git"), Nested: nested && dir != "",
		}
	}
}

func paths(rules map[string]string) *ignore.Paths {
	files := tree(rules)
	return ignore.NewPaths(ignore.New(ignore.Parse("global", []byte(rules["global"])), false, files("")), files)
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name  string
		rules map[string]string
		want  map[string]string // path (directories end in a slash) -> deciding rule, "" for none
	}{
		{"lowest to highest", map[string]string{
			"global": "a\nb\nc\nd\n", ".git": "!b\n", ".gitignore": "!c\n", "x/.gitignore": "c\n", ".umbraignore": "!d\n",
		}, map[string]string{
			"a": "global a", "b": ".git !b", "c": ".gitignore !c", "x/c": "x/.gitignore c", "x/d": ".umbraignore !d",
		}},
		{"every .umbraignore beats every .gitignore", map[string]string{
			".umbraignore": "*.log\n", "x/.gitignore": "!a.log\n", "x/y/.umbraignore": "!a.log\n",
		}, map[string]string{
			"x/a.log": ".umbraignore *.log", "x/y/a.log": "x/y/.umbraignore !a.log", "x/y/b.log": ".umbraignore *.log",
		}},
		{"an ignored directory", map[string]string{
			".gitignore": "build/\n!build/a\n", "build/.gitignore": "!a\n",
		}, map[string]string{
			"build": "", "build/": ".gitignore build/", "build/a": ".gitignore build/", "build/x/a": ".gitignore build/",
		}},
		{"un-ignoring a path below an ignored directory", map[string]string{
			".gitignore": "build/\n*.o\n", ".umbraignore": "!build/out.db\n!build/keep/\n!*.sqlite\n",
		}, map[string]string{
			"build/": ".gitignore build/", "build/out.db": ".umbraignore !build/out.db", "build/x": ".gitignore build/",
			"build/keep/": ".umbraignore !build/keep/", "build/keep/x": "", "build/keep/x.o": ".gitignore *.o",
			"build/dev.sqlite": ".gitignore build/", "dev.sqlite": ".umbraignore !*.sqlite",
		}},
		{"un-ignoring the directory itself", map[string]string{
			".gitignore": "build/\n*.o\n", ".umbraignore": "!build\n", "build/.gitignore": "x\n",
		}, map[string]string{
			"build/": ".umbraignore !build", "build/a": "", "build/x": "build/.gitignore x", "build/a.o": ".gitignore *.o",
		}},
		{"un-ignoring at any depth", map[string]string{
			".gitignore": "build/\n", ".umbraignore": "!**/dev.sqlite\n",
		}, map[string]string{
			"build/a/b/dev.sqlite": ".umbraignore !**/dev.sqlite", "build/dev.sqlite": ".umbraignore !**/dev.sqlite",
		}},
		{"a later .umbraignore rule ignores the directory again", map[string]string{
			".umbraignore": "!build/out.db\nbuild/\n!build/late\n",
		}, map[string]string{
			"build/out.db": ".umbraignore build/", "build/late": ".umbraignore !build/late",
		}},
		{"a deeper .umbraignore outranks one above", map[string]string{
			".umbraignore": "x/build/\n", "x/.umbraignore": "!build/out.db\n",
		}, map[string]string{
			"x/build/out.db": "x/.umbraignore !build/out.db", "x/build/y": ".umbraignore x/build/",
		}},
		{"a nested repository", map[string]string{
			"global": "*.swp\n/top\n", ".git": "*.tmp\n", ".gitignore": "*.log\nout/\n", ".umbraignore": "*.key\n",
			"sub/.git": "*.obj\n", "sub/.gitignore": "*.bak\n", "out/sub/.git": "",
		}, map[string]string{
			"sub/a.log": "", "sub/a.tmp": "", "sub/out/": "", "sub/a.swp": "global *.swp", "sub/a.key": ".umbraignore *.key",
			"sub/a.obj": "sub/.git *.obj", "sub/x/a.bak": "sub/.gitignore *.bak", "sub/top": "global /top", "top": "global /top",
			"x/top": "", "out/sub/a": ".gitignore out/",
		}},
		{"two asterisks after a literal are ordinary", map[string]string{
			".gitignore": "a/b**/c\nx**\n/y**\n",
		}, map[string]string{
			"a/bb/c": ".gitignore a/b**/c", "a/b/c": ".gitignore a/b**/c", "a/bb/d/c": "", "xx": ".gitignore x**",
			"z/xx": ".gitignore x**", "yy": ".gitignore /y**", "z/yy": "",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := paths(test.rules)
			for path, want := range test.want {
				v := p.Match(strings.TrimSuffix(path, "/"), strings.HasSuffix(path, "/"))
				got := ""
				if rule := v.Rule(); rule != nil {
					got = rule.Source + " " + rule.Text
				}
				if got != want || v.Ignored != (want != "" && !strings.Contains(want, "!")) {
					t.Errorf("%s: ignored %v by %q, want %q", path, v.Ignored, got, want)
				}
			}
		})
	}
}

func TestMayContainIncluded(t *testing.T) {
	p := paths(map[string]string{
		".gitignore":   "build/\nnode_modules/\nvendor/\n",
		".umbraignore": "!*.sqlite\n!build/*/keep/x\n!x/vendor/**/y\n!/vendor\nbuild/late/\n",
		"vendor/.git":  "",
	})
	for path, want := range map[string]bool{
		"src": true, "build": true, "build/a": true, "build/a/keep": true, "build/a/lose": false, "build/a/keep/x": true,
		"build/a/keep/y": false, "build/late": false, "node_modules": false, "x/vendor": true, "x/vendor/a/b": true, "vendor": true,
	} {
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		if got := p.Dir(dir).MayContainIncluded(name); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// A walk that enters ignored directories only where MayContainIncluded says
// so must find every path that is not ignored.
func TestWalkMissesNothing(t *testing.T) {
	names := []string{"a", "b", "c"}
	rules := []string{"a", "a/", "/a", "b/c", "!a", "!b/c", "!a/b", "!**/c", "!a/**", "!a/*/b", "!/b", "*", "!*/c/", "a/b"}
	var all, dirs []string
	for _, x := range names {
		for _, y := range names {
			for _, z := range names {
				all = append(all, x+"/"+y+"/"+z)
			}
			dirs = append(dirs, x+"/"+y)
		}
		dirs = append(dirs, x)
	}
	for i := range len(rules) * len(rules) * len(rules) {
		r := map[string]string{
			".gitignore":   rules[i%len(rules)],
			".umbraignore": rules[i/len(rules)%len(rules)] + "\n" + rules[i/len(rules)/len(rules)],
		}
		p := paths(r)
		entered := map[string]bool{"": true}
		for _, dir := range append([]string(nil), dirs...) {
			parent, name := "", dir
			if i := strings.IndexByte(dir, '/'); i >= 0 {
				parent, name = dir[:i], dir[i+1:]
			}
			entered[dir] = p.Dir(parent).MayContainIncluded(name)
		}
		for _, path := range all {
			if !p.Match(path, false).Ignored && !(entered[path[:1]] && entered[path[:3]]) {
				t.Fatalf("%s is included under %q but a walk does not come there", path, r)
			}
		}
	}
}

func TestForget(t *testing.T) {
	rules := map[string]string{"x/.gitignore": "a\n"}
	p := paths(rules)
	if !p.Match("x/y/a", false).Ignored {
		t.Fatal("x/y/a should be ignored")
	}
	rules["x/.gitignore"] = ""
	p.Forget("x")
	if p.Match("x/y/a", false).Ignored {
		t.Fatal("the old rules of x are still known")
	}
}

func TestParseEmpty(t *testing.T) {
	for _, data := range []string{"", "\n", "# a\n", "\xef\xbb\xbf", "[a\n", "\\\n", "/\n!\n  \n"} {
		if l := ignore.Parse("x", []byte(data)); l != nil {
			t.Errorf("%q: not without rules", data)
		}
	}
}

func TestPatternsThatBacktrack(t *testing.T) {
	pattern := "/" + strings.Repeat("a*", 40) + "b/" + strings.Repeat("**/a*", 20) + "/b"
	l := ignore.Parse("x", []byte(pattern))
	m := ignore.New(nil, false, ignore.Files{Git: l})
	for range 20 {
		m = m.Enter(strings.Repeat("a", 200), ignore.Files{})
	}
	if m.Match(strings.Repeat("a", 200), false).Ignored {
		t.Fatal("matched")
	}
}

// One entry of a tree with a usual list must cost well under a microsecond.
func BenchmarkMatch(b *testing.B) {
	var rules strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rules, "name%d\n*.ext%d\n/path%d/x\n", i, i, i)
	}
	rules.WriteString("*~\n**/cache/*.bin\nlogs/*.[oa]\nnpm-debug.log*\n*.py[cod]\n*$py.class\n**/*.rs.bk\na/**/generated/\n.yarn-*\n")
	m := ignore.New(nil, false, ignore.Files{Git: ignore.Parse("x", []byte(rules.String()))})
	m = m.Enter("src", ignore.Files{}).Enter("package", ignore.Files{})
	b.ReportAllocs()
	for b.Loop() {
		m.Match("ordinary_file.go", false)
	}
}

// TestTakenIn: the rule matches the directory and no other, whatever its name means.
func TestTakenIn(t *testing.T) {
	t.Parallel()
	for path, other := range map[string]string{
		"build": "build2", "tmp/in": "in", "a [b]": "a b", `back\slash`: "backslash", "star*": "star9", "what?": "what9", "ends ": "ends", "!odd": "odd", "#x/y": "x/y",
	} {
		p := paths(map[string]string{".gitignore": "/*\n", ".umbraignore": ignore.TakenIn(path) + "\n"})
		if p.Match(path, true).Ignored || p.Match(path+"/file", false).Ignored || !p.Match(other, true).Ignored {
			t.Errorf("%q has %q taken in as %q", path, other, ignore.TakenIn(path))
		}
	}
}
