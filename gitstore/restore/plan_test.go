package restore

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// lines writes a plan in short: C create, R replace, D delete, M modes, K kept,
// + and - directories; "!" marks what makes room.
func lines(p *Plan) string {
	var out []string
	mark := map[bool]string{true: "!"}
	for i := range p.Changes {
		c := &p.Changes[i]
		letter := map[Action]string{Create: "C", Replace: "R", Delete: "D", Chmod: "M"}[c.Action()]
		out = append(out, letter+mark[c.Frees]+" "+c.Path)
	}
	for _, d := range p.MakeDirs {
		out = append(out, "+ "+d.Path)
	}
	for _, d := range p.RemoveDirs {
		out = append(out, "-"+mark[d.Frees]+" "+d.Path)
	}
	for _, m := range p.DirModes {
		out = append(out, fmt.Sprintf("M %s %o>%o", m.Path, m.From, m.To))
	}
	for _, k := range p.Keep {
		out = append(out, "K "+k.Path+" "+string(k.Reason))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// row is a case of the plan: T is captured after then, S after now.
type row struct {
	name      string
	then, now func(l *lab)
	request   func(r *Request)
	want      string
}

func rows() []row {
	return slices.Concat(tableRows(), ruleRows(), placeRows(), oddRows())
}

// tableRows are those of the rules' table.
func tableRows() []row {
	return []row{
		{
			"differing is replaced, equal is not touched",
			func(l *lab) { l.write("a", "1"); l.write("same", "x") },
			func(l *lab) { l.write("a", "2") },
			nil, "R a",
		},
		{
			"missing is created",
			func(l *lab) { l.write("d/a", "1"); l.write("b", "1") },
			func(l *lab) { l.remove("d") },
			nil, "+ d, C d/a",
		},
		{
			"new is deleted, with directories",
			func(l *lab) { l.write("a", "1") },
			func(l *lab) { l.write("d/e/new", "1") },
			nil, "- d, - d/e, D d/e/new",
		},
		{
			"ignored now is kept",
			func(l *lab) { l.write("x.log", "1"); l.write("a", "1") },
			func(l *lab) { l.write(".gitignore", "*.log"); l.write("x.log", "2") },
			nil, "D .gitignore, K x.log ignored",
		},
		{
			"ignored then is kept",
			func(l *lab) { l.write(".gitignore", "*.log"); l.write("a", "1") },
			func(l *lab) { l.remove(".gitignore"); l.write("x.log", "2") },
			nil, "C .gitignore, K x.log ignored",
		},
		{
			"over the cap then is kept, exactly at the cap is not",
			func(l *lab) { l.write("big", strings.Repeat("x", 101)); l.write("full", strings.Repeat("x", 100)) },
			func(l *lab) { l.write("big", "small"); l.write("full", "less") },
			nil, "K big size, R full",
		},
		{
			"over the cap now is kept",
			func(l *lab) { l.write("big", "small") },
			func(l *lab) { l.write("big", strings.Repeat("x", 101)) },
			nil, "K big size",
		},
		{
			"a secret is kept",
			func(l *lab) { l.write("a", "1") },
			func(l *lab) { l.write(".env", "TOKEN"); l.write("b", "1") },
			nil, "D b",
		},
		{
			"special files are kept",
			func(l *lab) { l.write("p", "1"); l.must(syscall.Mkfifo(l.path("q"), 0o600)) },
			func(l *lab) {
				l.remove("p", "q")
				l.must(syscall.Mkfifo(l.path("p"), 0o600))
				l.write("q", "2")
			},
			nil, "K p special, K q special",
		},
		{
			"an empty workspace is left empty",
			func(l *lab) {}, func(l *lab) {}, nil, "",
		},
		{
			"a wholly ignored workspace is not wiped",
			func(l *lab) { l.write(".umbraignore", "*") },
			func(l *lab) { l.write(".umbraignore", "*"); l.write("a", "1") },
			nil, "",
		},
	}
}

func ruleRows() []row {
	return []row{
		{
			"files that ignore rules hide no more are reported",
			func(l *lab) { l.write("a", "1") },
			func(l *lab) { l.write(".gitignore", "*.log\nout/\n"); l.write("x.log", "1"); l.write("out/o", "1") },
			nil, "D .gitignore, K out revealed, K x.log revealed",
		},
		{
			"paths that are left",
			func(l *lab) { l.write("a", "1"); l.write("b", "1"); l.write("c", "1") },
			func(l *lab) { l.write("a", "2"); l.write("b", "2"); l.remove("c") },
			func(r *Request) { r.Leave = map[string]Reason{"b": "foreign", "c": "contested"} },
			"K b foreign, K c contested, R a",
		},
		{
			"a directory that is to stay",
			func(l *lab) { l.write("a", "1") },
			func(l *lab) { l.write("d/e/b", "1"); l.write("d/f/c", "1") },
			func(r *Request) { r.Stays = func(dir string) bool { return dir == "d/e" } },
			"- d, - d/f, D d/e/b, D d/f/c, K d/e workspace",
		},
		{
			"a directory that is to stay where a file was",
			func(l *lab) { l.write("d", "1") },
			func(l *lab) { l.remove("d"); l.write("d/e/b", "1") },
			func(r *Request) { r.Stays = func(dir string) bool { return dir == "d/e" } },
			"K d occupied, K d/e/b occupied",
		},
		{
			"paths asked for",
			func(l *lab) { l.write("d/a", "1"); l.write("da", "1"); l.write("f", "1"); l.write("g", "1") },
			func(l *lab) {
				l.write("d/a", "2")
				l.write("da", "2")
				l.write("f", "2")
				l.write("g", "2")
				l.write("d/n", "")
			},
			func(r *Request) { r.Paths = []string{"d", "f", "none"} },
			"D d/n, R d/a, R f",
		},
		{
			"only the exec bit",
			func(l *lab) { l.write("a", "1"); l.must(os.Chmod(l.path("a"), 0o755)); l.write("b", "1") },
			func(l *lab) { l.must(os.Chmod(l.path("a"), 0o644)) },
			nil, "M a",
		},
		{
			"unusual permission bits",
			func(l *lab) {
				l.write("a", "1")
				l.write("b", "1")
				l.write("d/c", "1")
				l.write("e/c", "1")
				l.must(os.Chmod(l.path("a"), 0o600))
				l.must(os.Chmod(l.path("d"), 0o700))
			},
			func(l *lab) { l.must(os.Chmod(l.path("a"), 0o644)); l.must(os.Chmod(l.path("d"), 0o755)) },
			nil, "M a, M d 755>700",
		},
		{
			"all permission bits",
			func(l *lab) { l.write("a", "1"); l.write("d/c", "1") },
			func(l *lab) { l.must(os.Chmod(l.path("a"), 0o664)); l.must(os.Chmod(l.path("d/c"), 0o664)) },
			nil, "M a, M d/c",
		},
		{
			"empty directories are put back",
			func(l *lab) { l.write("a", "1"); l.must(os.MkdirAll(l.path("e/f"), 0o755)) },
			func(l *lab) { l.remove("e"); l.must(os.MkdirAll(l.path("other"), 0o755)) },
			nil, "+ e, + e/f",
		},
	}
}

// placeRows are files in the place of directories and the reverse.
func placeRows() []row {
	return []row{
		{
			"a file where a directory was",
			func(l *lab) { l.write("d", "1") },
			func(l *lab) {
				l.remove("d")
				l.write("d/a", "1")
				l.write("d/e/b", "1")
				l.must(os.Mkdir(l.path("d/empty"), 0o755))
			},
			nil, "-! d, -! d/e, -! d/empty, C d, D! d/a, D! d/e/b",
		},
		{
			"a directory where a file was",
			func(l *lab) { l.write("d/a", "1"); l.write("d/e/b", "1") },
			func(l *lab) { l.remove("d"); l.write("d", "2") },
			nil, "+ d, + d/e, C d/a, C d/e/b, D! d",
		},
		{
			"a link where a directory was",
			func(l *lab) { l.link("..", "d") },
			func(l *lab) { l.remove("d"); l.write("d/passwd", "1") },
			nil, "-! d, C d, D! d/passwd",
		},
		{
			"a directory where a link was",
			func(l *lab) { l.write("d/passwd", "1") },
			func(l *lab) { l.remove("d"); l.link("..", "d") },
			nil, "+ d, C d/passwd, D! d",
		},
		{
			"a file where a directory holds an ignored file",
			func(l *lab) { l.write(".gitignore", "*.o"); l.write("d", "1") },
			func(l *lab) { l.remove("d"); l.write("d/a", "1"); l.write("d/e/x.o", "1"); l.write("d/b", "1") },
			nil, "K d occupied, K d/a occupied, K d/b occupied",
		},
		{
			"a file where a directory holds a repository",
			func(l *lab) { l.write("d", "1") },
			func(l *lab) { l.remove("d"); l.write("d/a", "1"); l.must(os.MkdirAll(l.path("d/e/.git"), 0o755)) },
			nil, "K d occupied, K d/a occupied",
		},
		{
			"a directory where an ignored file is",
			func(l *lab) { l.write("x.o/a", "1") },
			func(l *lab) { l.write(".gitignore", "*.o"); l.remove("x.o"); l.write("x.o", "2") },
			nil, "D .gitignore, K x.o revealed, K x.o/a blocked",
		},
		{
			"a directory where a file is left",
			func(l *lab) { l.write("d/a", "1"); l.write("d/e/b", "1") },
			func(l *lab) { l.remove("d"); l.write("d", "2") },
			func(r *Request) { r.Leave = map[string]Reason{"d": "foreign"} },
			"K d foreign, K d/a blocked, K d/e/b blocked",
		},
		{
			"a file where a directory is with a file that is left",
			func(l *lab) { l.write("d", "1") },
			func(l *lab) { l.remove("d"); l.write("d/a", "1"); l.write("d/b", "1") },
			func(r *Request) { r.Leave = map[string]Reason{"d/a": "foreign"} },
			"K d occupied, K d/a foreign, K d/b occupied",
		},
		{
			"one path below a file",
			func(l *lab) { l.write("d/a", "1") },
			func(l *lab) { l.remove("d"); l.write("d", "2") },
			func(r *Request) { r.Paths = []string{"d/a"} },
			"K d/a blocked",
		},
		{
			"a repository in a directory that goes",
			func(l *lab) { l.write("a", "1") },
			func(l *lab) { l.write("d/e/b", "1"); l.must(os.MkdirAll(l.path("d/.git"), 0o755)) },
			nil, "- d, - d/e, D d/e/b",
		},
	}
}

func oddRows() []row {
	long := strings.Repeat("d/", 2047)
	return []row{
		{
			"only the case",
			func(l *lab) { l.write("Readme", "1") },
			func(l *lab) { l.must(os.Rename(l.path("Readme"), l.path("README"))) },
			nil, "C Readme, D README",
		},
		{
			"odd names",
			func(l *lab) {
				for _, name := range []string{"-x", " a\tb\n", ":(glob)", "\xff\xfe", "e\u0301", "\u00e9", "nul", "dot. ", strings.Repeat("n", 255)} {
					l.write(name, "1")
				}
			},
			func(l *lab) { l.remove("\xff\xfe", "e\u0301", "-x"); l.write(" a\tb\n", "2") },
			nil, "C -x, C e\u0301, C \xff\xfe, R  a\tb\n",
		},
		{
			"a path over PATH_MAX",
			func(l *lab) {
				l.must(l.ws.MkdirAll(long+"d", 0o755))
				f, err := l.ws.Create(long+"d/a", 0o644)
				l.must(err)
				l.must(f.Close())
			},
			func(l *lab) { l.remove("d"); l.write("d/b", "1") },
			nil, "",
		},
	}
}

func TestPlan(t *testing.T) {
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			l := newFastLab(t)
			l.settings.SizeCap = 100
			row.then(l)
			to := l.capture()
			row.now(l)
			from := l.capture()
			var requests []func(*Request)
			if row.request != nil {
				requests = append(requests, row.request)
			}
			got := lines(l.plan(from, to, requests...))
			if row.name == "a path over PATH_MAX" {
				if strings.Count(got, "+ ") != 2047 || !strings.Contains(got, "C "+strings.Repeat("d/", 2048)+"a") {
					t.Fatalf("plan: %.200s", got)
				}
				return
			}
			if got != row.want {
				t.Errorf("plan: %s\nwant: %s", got, row.want)
			}
		})
	}
}

func TestPlanRefusesHostileTrees(t *testing.T) {
	l := newFastLab(t)
	l.write("a", "1")
	l.write("link/x", "1")
	from := l.capture()
	b := l.blob("evil")
	sub := func(name string) gitstore.ID {
		return l.tree(gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: b})
	}
	file := func(name string) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: b}
	}
	dir := func(name string, id gitstore.ID) gitstore.TreeEntry {
		return gitstore.TreeEntry{Name: name, Mode: gitstore.ModeDir, ID: id}
	}
	to := from
	to.Tree = l.tree(
		file("../up"), dir("..", sub("up2")), file("/etc/evil"), file("a/../../up3"), file(""), file("."),
		dir(".git", l.tree(dir("hooks", sub("post-checkout")))), file(".GIT"), dir("git~1", sub("config")), file(".git ."),
		dir("sub", sub(".Git")), file("sub2/.git/config"), file(".umbra-01234567-0123-0123-0123-0123456789ab-1"),
		file("both"), dir("both", sub("in")), file("twice"), file("twice"),
		gitstore.TreeEntry{Name: "link", Mode: gitstore.ModeSymlink, ID: l.blob("/tmp")}, dir("link", sub("in")),
		gitstore.TreeEntry{Name: "module", Mode: gitstore.ModeGitlink, ID: b},
		file("good"), dir("sub3", sub("good")),
	)
	p := l.plan(from, to)
	var written []string
	for i := range p.Changes {
		if p.Changes[i].To != nil {
			written = append(written, p.Changes[i].Path)
		}
	}
	if want := []string{"good", "sub3/good"}; !reflect.DeepEqual(written, want) {
		t.Errorf("would write %q, want %q\n%s", written, want, lines(p))
	}
}

func TestPlanFailsForWhatCannotBeRead(t *testing.T) {
	l := newFastLab(t)
	l.write("a", "1")
	l.write("d/b", "1")
	to := l.capture()
	l.write("a", "2")
	from := l.capture()
	missing := from
	missing.Tree = l.tree(gitstore.TreeEntry{Name: "d", Mode: gitstore.ModeDir, ID: l.blobID("no such tree")})
	for name, r := range map[string]Request{
		"target": {From: from, To: Side{Tree: missing.Tree, Rules: to.Rules}},
		"source": {From: missing, To: to},
	} {
		if p, err := Make(l.store, l.ws, r); err == nil {
			t.Errorf("%s: a missing tree was taken for an empty one: %s", name, lines(p))
		}
	}
	if _, err := Make(l.store, l.ws, Request{From: from, To: Side{Tree: to.Tree}}); err != ErrNoRules {
		t.Errorf("without rules: %v", err)
	}
	unread := to
	var err error
	unread.Rules, err = documents.ParseRules([]byte(`{"version":1,"size_cap":100}`), func(string) ([]byte, bool, error) {
		return nil, false, os.ErrDeadlineExceeded
	})
	l.must(err)
	l.write("new", "")
	if p, err := Make(l.store, l.ws, Request{From: l.capture(), To: unread}); err == nil {
		t.Errorf("ignore files that cannot be read were taken for none: %s", lines(p))
	}
}

func (l *lab) blobID(content string) gitstore.ID {
	return gitstore.HashObject(gitstore.TypeBlob, []byte(content))
}
