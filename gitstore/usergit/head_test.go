package usergit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (r *testRepo) wantHead(ref, id string) {
	r.t.Helper()
	head, err := r.discover().Head()
	if err != nil {
		r.t.Fatal(err)
	}
	if head.Ref != ref || head.ID.String() != id {
		r.t.Errorf("HEAD is %q at %s, want %q at %s", head.Ref, head.ID, ref, id)
	}
}

func TestHead(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepo(t, "--object-format="+format)
			r.wantHead("refs/heads/main", "")
			if head, _ := r.discover().Head(); !head.Unborn() || head.Branch() != "main" {
				t.Errorf("unborn: %+v", head)
			}
			r.untouched()
			first := r.commit("a", "1")
			r.wantHead("refs/heads/main", first)
			r.git("branch", "not-main")
			r.git("branch", "feature/main")
			r.git("pack-refs", "--all", "--prune")
			r.wantHead("refs/heads/main", first)
			second := r.commit("a", "2")
			r.wantHead("refs/heads/main", second)
			r.untouched()
			r.git("switch", "-q", "feature/main")
			r.wantHead("refs/heads/feature/main", first)
			r.git("checkout", "-q", "--detach", "main")
			r.wantHead("", second)
			if head, _ := r.discover().Head(); head.Branch() != "" || head.Unborn() {
				t.Errorf("detached: %+v", head)
			}
			r.untouched()
			r.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			r.git("symbolic-ref", "HEAD", "refs/heads/alias")
			r.wantHead("refs/heads/main", second)
			r.git("symbolic-ref", "HEAD", "refs/heads/feature/none")
			r.wantHead("refs/heads/feature/none", "")
			r.git("symbolic-ref", "HEAD", "refs/heads/main/below")
			r.wantHead("refs/heads/main/below", "")
		})
	}
}

func TestHeadOfLinkedWorktree(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	dir := filepath.Join(filepath.Dir(r.dir), "linked")
	r.git("worktree", "add", "-q", "-b", "side", dir)
	linked := &testRepo{t: t, dir: dir}
	second := linked.commit("a", "2")
	linked.wantHead("refs/heads/side", second)
	linked.git("bisect", "start")
	linked.git("update-ref", "refs/bisect/bad", "HEAD")
	linked.git("symbolic-ref", "HEAD", "refs/bisect/bad")
	linked.wantHead("refs/bisect/bad", second)
	before := fingerprint(t, filepath.Dir(r.dir))
	linked.untouched()
	if fingerprint(t, filepath.Dir(r.dir)) != before {
		t.Error("reading the linked worktree changed the repository")
	}
}

func TestDamagedHead(t *testing.T) {
	r := newRepo(t)
	found := r.discover()
	for _, data := range []string{
		"ref: refs/../../etc/passwd\n", "ref: refs/heads/\x00\n", "ref: nowhere\n", "zz\n", "",
		strings.Repeat("a", 64) + "\n", "ref: refs/heads/loop\n",
	} {
		for name, text := range map[string]string{"HEAD": data, "refs/heads/loop": "ref: refs/heads/loop\n"} {
			if err := os.WriteFile(filepath.Join(found.GitDir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if head, err := found.Head(); !isDamaged(err) {
			t.Errorf("HEAD with %q: %+v, %v", data, head, err)
		}
	}
}

func TestFirstParents(t *testing.T) {
	r := newRepo(t)
	var want []string
	for i := range 5 {
		want = append([]string{r.commit("a", fmt.Sprint(i))}, want...)
	}
	r.git("switch", "-q", "-c", "side", "HEAD~2")
	r.commit("b", "x")
	r.git("switch", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "m", "side")
	want = append([]string{r.git("rev-parse", "HEAD")}, want...)
	r.wantFirstParents(50, want)
	r.wantFirstParents(3, want[:3])

	shallow := &testRepo{t: t, dir: filepath.Join(filepath.Dir(r.dir), "shallow")}
	r.git("clone", "-q", "--depth=2", "file://"+r.dir, shallow.dir)
	shallow.wantFirstParents(50, want[:2])
	shallow.untouched()
}

func (r *testRepo) wantFirstParents(n int, want []string) {
	r.t.Helper()
	found := r.discover()
	head, err := found.Head()
	if err != nil {
		r.t.Fatal(err)
	}
	ids, err := found.FirstParents(r.objects(), head.ID, n)
	if err != nil {
		r.t.Fatal(err)
	}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		r.t.Errorf("first parents %v, want %v", ids, want)
	}
}

func TestOperations(t *testing.T) {
	tests := map[string]struct {
		begin func(r *testRepo)
		want  string
	}{
		"none":         {func(r *testRepo) {}, "[]"},
		"merge":        {func(r *testRepo) { r.fails("merge", "other") }, "[merge]"},
		"rebase merge": {func(r *testRepo) { r.fails("rebase", "--merge", "other") }, "[rebase]"},
		"rebase apply": {func(r *testRepo) { r.fails("rebase", "--apply", "other") }, "[rebase]"},
		"cherry-pick":  {func(r *testRepo) { r.fails("cherry-pick", "other") }, "[cherry-pick]"},
		"cherry-pick between commits": {func(r *testRepo) {
			r.git("switch", "-q", "other")
			r.commit("g", "1")
			r.commit("f", "more theirs\n")
			r.commit("g", "2")
			r.git("switch", "-q", "main")
			r.fails("cherry-pick", "other~3", "other~2", "other~1", "other")
			r.git("checkout", "-q", "--theirs", "f")
			r.git("add", "f")
			r.git("commit", "-q", "-m", "resolved")
		}, "[cherry-pick]"},
		"revert": {func(r *testRepo) {
			r.commit("f", "later\n")
			r.fails("revert", "HEAD~1")
		}, "[revert]"},
		"bisect": {func(r *testRepo) { r.git("bisect", "start") }, "[bisect]"},
		"am": {func(r *testRepo) {
			r.write("patch", r.git("format-patch", "--stdout", "-1", "other")+"\n")
			r.fails("am", "patch")
		}, "[am]"},
		"merge during bisect": {func(r *testRepo) {
			r.git("bisect", "start")
			r.fails("merge", "other")
		}, "[merge bisect]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.conflict()
			test.begin(r)
			got, err := r.discover().Operations()
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("%v, want %s", got, test.want)
			}
			r.untouched()
		})
	}
}
