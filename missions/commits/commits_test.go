package commits

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestLandsAsTheUserWould: the trees of the commits are those that the user makes who types
// git add and git commit after each turn, whatever the user's git does to files.
func TestLandsAsTheUserWould(t *testing.T) {
	t.Parallel()
	naive := newBench(t)
	naive.put("lines.txt", "1\r\n2\r\n")
	naive.configure("core.autocrlf=true")
	raw, added := naive.git("hash-object", "--no-filters", "lines.txt"), naive.git("hash-object", "lines.txt")
	hazards.Shown(t, hazards.H51, raw != added, "the bytes on disk, committed as they are, are another file than `git add` makes of them")
	filters := []string{"filter.up.clean=./tools/up", "filter.point.clean=./tools/point", "filter.point.required=true"}
	for name, settings := range map[string][]string{
		"plain":       nil,
		"autocrlf":    {"core.autocrlf=true"},
		"input":       {"core.autocrlf=input", "core.safecrlf=false"},
		"no modes":    {"core.fileMode=false"},
		"many":        {"core.autocrlf=true", "core.splitIndex=true", "core.untrackedCache=true", "core.quotePath=false"},
		"no symlinks": {"core.symlinks=false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configure(append(filters, settings...)...)
			b.begin()
			twin := filepath.Join(b.home, "twin") // the user who commits after each turn
			b.in(b.home, "clone", "-q", "--no-hardlinks", b.dir, twin)
			var want []string
			b.turns(func(turn int) {
				b.in(b.dir, "--git-dir="+filepath.Join(twin, ".git"), "config", "core.worktree", b.dir)
				for _, kv := range append(filters, settings...) {
					key, value, _ := strings.Cut(kv, "=")
					b.in(b.dir, "--git-dir="+filepath.Join(twin, ".git"), "config", key, value)
				}
				b.in(b.dir, "--git-dir="+filepath.Join(twin, ".git"), "--work-tree="+b.dir, "add", "-A")
				b.in(b.dir, "--git-dir="+filepath.Join(twin, ".git"), "--work-tree="+b.dir, "commit", "-q", "-m", fmt.Sprint("turn ", turn))
				want = append(want, b.in(b.dir, "--git-dir="+filepath.Join(twin, ".git"), "rev-parse", "HEAD^{tree}"))
			})
			r := b.land()
			got := strings.Fields(b.git("log", "--reverse", "--format=%T", "-3"))
			if len(r.Commits) != 3 || !slices.Equal(got, want) {
				for i := range want {
					t.Logf("turn %d:\n%s", i+1, b.git("--git-dir="+filepath.Join(twin, ".git"), "ls-tree", "-r", want[i]))
					t.Logf("landed:\n%s", b.git("ls-tree", "-r", got[i]))
				}
				t.Fatalf("trees %v, want %v", got, want)
			}
			if status := b.git("status", "--porcelain"); status != "" || len(r.Left) > 0 {
				t.Errorf("left: %q %v", status, r.Left)
			}
			if again := b.land(); len(again.Commits) > 0 {
				t.Errorf("landed again: %+v", again.Commits)
			}
		})
	}
	hazards.Held(t, hazards.H51, "the commits of a landing are made by the user's own git, with its filters and line ends")
}

// TestOthersStayOut: what the user has changed between the turns lands with none of them,
// also in the same file, and in the same lines it is refused.
func TestOthersStayOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lines := func(first, last string) string { return first + "\n2\n3\n4\n5\n6\n7\n" + last + "\n" }
	b.put("both.txt", lines("1", "8"))
	b.begin()
	b.put("both.txt", lines("one of the user", "8"))
	b.put("mine.txt", "mine\n")
	b.step("", "")
	b.put("both.txt", lines("one of the user", "eight of the agent"))
	b.put("theirs.txt", "theirs\n")
	b.step("1", "change eight")
	r := b.land()
	if got := b.git("show", "HEAD:both.txt"); got != strings.TrimSpace(lines("1", "eight of the agent")) {
		t.Errorf("landed %q", got)
	}
	if !slices.Equal(r.Left, []string{"both.txt", "mine.txt"}) {
		t.Errorf("left %v", r.Left)
	}
	b.put("both.txt", lines("one of the agent", "eight of the agent"))
	b.step("2", "change one")
	b.refused("both.txt")
	r = b.land(func(o *Options) { o.All = true })
	if b.git("show", "HEAD:both.txt") != strings.TrimSpace(lines("one of the agent", "eight of the agent")) || !slices.Equal(r.Left, []string{"mine.txt"}) {
		t.Errorf("with all: left %v", r.Left)
	}
}

// TestAllKeepsOtherLines: with all, what the branch has in other lines stays.
func TestAllKeepsOtherLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("both.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")
	b.begin()
	b.git("switch", "-q", "-c", "side")
	b.put("both.txt", "one of the branch\n2\n3\n4\n5\n6\n7\neight of the branch\n")
	b.git("commit", "-q", "-a", "-m", "of the branch")
	b.git("switch", "-q", "main")
	b.put("both.txt", "1\n2\n3\n4\n5\n6\n7\neight of the agent\n")
	b.step("1", "change eight")
	onSide := func(o *Options) { o.Branch = "side" }
	b.refused("both.txt", onSide)
	b.land(onSide, func(o *Options) { o.All = true })
	if got := b.git("show", "side:both.txt"); got != "one of the branch\n2\n3\n4\n5\n6\n7\neight of the agent" {
		t.Errorf("landed %q", got)
	}
}

// TestFileAgainstDirectory: a file of the mission where the branch has a directory, or the
// reverse, removes nothing of the branch unless all is asked for.
func TestFileAgainstDirectory(t *testing.T) {
	t.Parallel()
	for ofBranch, ofMission := range map[string]string{"docs/x.md": "docs", "docs": "docs/y.md"} {
		b := newBench(t)
		b.begin()
		b.git("switch", "-q", "-c", "side")
		b.put(ofBranch, "of the branch\n")
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "of the branch")
		b.git("switch", "-q", "main")
		b.put(ofMission, "of the mission\n")
		b.step("1", "add docs")
		onSide := func(o *Options) { o.Branch = "side" }
		b.refused(ofBranch, onSide)
		b.land(onSide, func(o *Options) { o.All = true })
		if got := b.git("ls-tree", "-r", "--name-only", "side"); got != "begun.txt\n"+ofMission {
			t.Errorf("with all: %q", got)
		}
	}
}

// TestHooksOfTheUser: a hook may change what is committed, and the message; the files in
// the workspace are as it leaves them.
func TestHooksOfTheUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.go", "  indented\n")
	b.step("1", "add a file")
	b.put("b.go", "  indented too\n")
	b.step("2", "add another")
	b.hook("pre-commit", "for f in $(git diff --cached --name-only); do sed 's/^  *//' \"$f\" >\"$f.new\" && mv \"$f.new\" \"$f\" && git add \"$f\"; done\n")
	b.hook("commit-msg", "echo 'Checked-by: a hook' >>\"$1\"\n")
	b.hook("prepare-commit-msg", "sed \"1s/^/$(git symbolic-ref --short HEAD): /\" \"$1\" >\"$1.new\" && mv \"$1.new\" \"$1\"\n")
	r := b.land()
	if b.git("show", "HEAD:a.go") != "indented" || b.git("show", "HEAD:b.go") != "indented too" || b.read("a.go") != "indented\n" {
		t.Errorf("the formatter's work: %q %q %q", b.git("show", "HEAD:a.go"), b.git("show", "HEAD:b.go"), b.read("a.go"))
	}
	if got := b.git("log", "-2", "--format=%B"); strings.Count(got, "Checked-by: a hook") != 2 || !strings.Contains(got, "main: add another") {
		t.Errorf("messages: %s", got)
	}
	if len(r.Commits) != 2 || b.git("status", "--porcelain") != "" {
		t.Errorf("left: %q", b.git("status", "--porcelain"))
	}
	// On a branch that is not checked out, hooks see that branch, and the same files.
	b.put("c.go", "  third\n")
	b.step("3", "add a third")
	b.land(func(o *Options) { o.Branch = "topic" })
	if !strings.HasPrefix(b.git("log", "-1", "--format=%s", "topic"), "topic: add a third ") || b.git("show", "topic:c.go") != "third" || b.git("symbolic-ref", "--short", "HEAD") != "main" {
		t.Errorf("on a branch: %q %q %q", b.git("log", "-1", "--format=%B", "topic"), b.git("show", "topic:c.go"), b.git("symbolic-ref", "--short", "HEAD"))
	}
	if status := b.git("status", "--porcelain"); status != "?? c.go" {
		t.Errorf("the index moved: %q", status)
	}
}

// TestRefusedCommit: where a hook, or a missing name or key, refuses the second commit, the
// branch and the index are as before the first.
func TestRefusedCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.put("b.txt", "b\n")
	b.step("2", "add b")
	b.hook("pre-commit", "git diff --cached --name-only | grep -q b.txt || exit 0\necho no b, please >&2\nexit 1\n")
	if e := b.refused("no b, please"); !strings.Contains(e.Hint, "--no-verify") {
		t.Errorf("hint: %s", e.Hint)
	}
	b.refused("no b, please", func(o *Options) { o.Branch = "topic" })
	b.git("config", "commit.gpgSign", "true")
	b.git("config", "gpg.format", "ssh")
	b.git("config", "user.signingKey", filepath.Join(b.home, "no-such-key"))
	b.refused("git commit refuses", func(o *Options) { o.NoVerify = true })
	if r := b.land(func(o *Options) { o.NoVerify, o.NoSign = true, true }); len(r.Commits) != 2 {
		t.Errorf("landed %+v", r)
	}
}

// TestSigned: commits are signed with the user's key.
func TestSigned(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	b := newBench(t)
	key := filepath.Join(b.home, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada@example.com", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err == nil {
		err = os.WriteFile(filepath.Join(b.home, "signers"), append([]byte("ada@example.com "), public...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.configure("gpg.format=ssh", "user.signingKey="+key, "commit.gpgSign=true", "gpg.ssh.allowedSignersFile="+filepath.Join(b.home, "signers"))
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.land()
	if got := b.git("log", "-1", "--format=%G? %GS %an"); got != "G ada@example.com Ada" {
		t.Errorf("signature: %s", got)
	}
	b.git("verify-commit", "HEAD")
}

// errKilled is the end of a process, in tests.
var errKilled = errors.New("killed")

// TestKilledAtEachStep: wherever it is killed, the branch has none or some of the commits,
// nothing is staged that is not the next one's, and the same call makes the rest.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"", "topic"} {
		points := 0
		for at := 1; at == 1 || at <= points; at++ {
			b := newBench(t)
			b.begin()
			for turn := range 3 {
				b.put(fmt.Sprintf("%d.txt", turn), "new\n")
				b.put("begun.txt", strings.Repeat("more\n", turn+1))
				b.step(fmt.Sprint(turn+1), fmt.Sprint("turn ", turn+1))
			}
			work, err := b.open(func(o *Options) { o.Branch = branch })
			if err != nil {
				t.Fatal(err)
			}
			passed := 0
			work.reached = func(string) {
				if passed++; passed == at {
					panic(errKilled)
				}
			}
			killed := func() (killed bool) {
				defer func() { killed = recover() != nil }()
				_, err = work.Make()
				return false
			}()
			if !killed {
				t.Fatalf("not killed at %d: %v", at, err)
			}
			b.land(func(o *Options) { o.Branch = branch })
			on := "main"
			if branch != "" {
				on = branch
			}
			if got := b.git("log", "--format=%s", on); got != "turn 3\nturn 2\nturn 1\nfirst" {
				t.Errorf("killed at %d on %q: %q", at, branch, got)
			}
			if tree := b.git("rev-parse", on+"^{tree}"); tree != b.last {
				t.Errorf("killed at %d on %q: %s is not what is in the workspace", at, branch, on)
			}
			points = map[string]int{"": 6, "topic": 7}[branch]
		}
	}
}

// TestRefusals: what stands in the way is said before anything is changed.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin()
	b.put("a.txt", "a\n")
	b.step("1", "add a")
	b.put("other.txt", "other\n")
	b.git("add", "other.txt")
	b.refused("something is staged that is no part of this: other.txt")
	b.git("rm", "-q", "--cached", "other.txt")
	b.plan.Branch = "elsewhere"
	b.refused("login has worked on elsewhere, and main is checked out now")
	b.plan.Branch = "main"
	b.git("checkout", "-q", "--detach")
	b.refused("no branch is checked out")
	b.git("switch", "-q", "main")
	b.git("worktree", "add", "-q", filepath.Join(b.home, "tree"), "-b", "taken")
	b.refused("taken is checked out in", func(o *Options) { o.Branch = "taken" })
	b.git("update-ref", "MERGE_HEAD", "HEAD")
	b.refused("a merge is in progress")
	b.git("update-ref", "-d", "MERGE_HEAD")
	lock := filepath.Join(b.dir, ".git", "index.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.refused("another git holds the index")
	bare := filepath.Join(b.home, "bare.git")
	b.git("init", "-q", "--bare", bare)
	if _, err := openRepository(t.Context(), missions.Mission{Workspace: bare}, Options{}); err == nil || !strings.Contains(err.Error(), "is in a bare repository") {
		t.Errorf("a bare repository: %v", err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock of another git is gone: %v", err)
	}
}

// TestMovedMeanwhile: what the user commits while a hook runs stays, is named, and is in the
// index; what lands on a branch that was switched to is said.
func TestMovedMeanwhile(t *testing.T) {
	t.Parallel()
	own := "echo of the user >begun.txt; git commit -q --no-verify -m 'of the user' begun.txt\n"
	for name, of := range map[string]struct {
		hook, script, says, log string
		asBefore                bool
	}{
		"before":   {"pre-commit", own, "of the user", "of the user\nfirst", false},
		"second":   {"pre-commit", "git diff --cached --name-only | grep -q b.txt || exit 0\n" + own, "add a", "of the user\nadd a\nfirst", false},
		"after":    {"post-commit", "test -f .git/once && exit 0; touch .git/once\n" + own, "of the user", "of the user\nadd a\nfirst", false},
		"switched": {"pre-commit", "git switch -q other\n", "is on other: ", "add a\nfirst", true},
		"detached": {"pre-commit", "git switch -q --detach\n", "is on no branch: ", "add a\nfirst", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.begin()
			b.git("branch", "other")
			b.put("a.txt", "a\n")
			b.step("1", "add a")
			b.put("b.txt", "b\n")
			b.step("2", "add b")
			b.hook(of.hook, of.script)
			work, err := b.open()
			if err != nil {
				t.Fatal(err)
			}
			_, err = work.Make()
			if e := missions.AsError(err); err == nil || e.Kind != missions.KindConflict || !strings.Contains(e.Message, of.says) {
				t.Errorf("refused: %v, want %q", err, of.says)
			} else if strings.Contains(e.Message, "as before") != of.asBefore {
				t.Errorf("as before: %v", err)
			}
			if staged := b.git("diff", "--cached", "--name-status"); staged != "" {
				t.Errorf("staged afterwards: %s", staged)
			}
			if got := b.git("log", "--format=%s", "HEAD"); got != of.log {
				t.Errorf("HEAD has %q, want %q", got, of.log)
			}
			if got := b.git("log", "--format=%s", "main"); of.asBefore && got != "first" {
				t.Errorf("main has %q", got)
			}
		})
	}
}

// TestFirstCommit: a branch without a commit gets its first.
func TestFirstCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.last = b.snapshot()
	b.put("a.txt", "a\n")
	b.put("sub/.gitattributes", "*.txt eol=crlf\n")
	b.put("sub/x.txt", "x\r\n")
	b.step("1", "add a")
	r := b.land()
	if got := b.git("ls-tree", "-r", "--name-only", "HEAD"); got != "a.txt\nsub/.gitattributes\nsub/x.txt" || !slices.Equal(r.Left, []string{"begun.txt"}) {
		t.Errorf("%s, left %v", got, r.Left)
	}
}

// TestNotes: the notes say which lines the agent wrote.
func TestNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("lines.txt", "1\n2\n3\n")
	b.begin()
	b.put("lines.txt", "1\ntwo\n3\n4\n5\n")
	b.put("with space.txt", "+++ b/no.txt\n@@ -1 +1 @@\n")
	b.remove("begun.txt")
	b.step("1", "change lines")
	r := b.land(func(o *Options) { o.Notes = true })
	note := b.git("notes", "--ref=refs/notes/ai", "show", "HEAD")
	key := strings.Fields(strings.Split(note, "\n")[1])[0]
	want := "lines.txt\n  " + key + " 2,4-5\n\"with space.txt\"\n  " + key + " 1-2\n---\n"
	if !strings.HasPrefix(note, want) || !strings.Contains(note, r.Commits[0].ID) {
		t.Errorf("%s\nwant\n%s", note, want)
	}
	for _, says := range []string{`"schema_version": "authorship/3.0.0"`, `"tool": "claude"`, `"total_additions": 5`, `"total_deletions": 2`} {
		if !strings.Contains(note, says) {
			t.Errorf("%s is not in %s", says, note)
		}
	}
}

// TestPreviewChangesNothing: not one object is written.
func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configure("core.autocrlf=true")
	b.begin()
	b.turns(func(int) {})
	before := b.files()
	work, err := b.open(func(o *Options) { o.Preview = true })
	if err != nil {
		t.Fatal(err)
	}
	if r := work.Preview(); len(r.Commits) != 3 || r.Commits[0].Subject != "add files" || len(r.Commits[0].Files) == 0 {
		t.Errorf("%+v", r)
	}
	if after := b.files(); !maps.Equal(before, after) {
		t.Errorf("the repository has changed: %v", after)
	}
}

// TestRanges writes numbers as a trailer has them.
func TestRanges(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{"": {}, "1": {1}, "1-3, 5": {3, 1, 2, 5, 5}, "2, 4": {4, 2}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
	if got := subjectOf("  a prompt\nof two lines "); got != "a prompt of two lines" {
		t.Error(got)
	}
	if got := subjectOf(strings.Repeat("wort ", 30)); len([]rune(got)) > maxSubject || !strings.HasSuffix(got, "wort…") {
		t.Error(got)
	}
}
