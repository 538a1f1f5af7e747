package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// fixed is what these tests read of the end of a loop.
type fixed struct {
	Attempts []struct {
		Address string `json:"address"`
		Issues  []struct {
			File string `json:"file"`
		} `json:"issues"`
	} `json:"attempts"`
	Stopped string `json:"stopped"`
}

// inHome writes a file beside the repository, and returns its name.
func (p *person) inHome(name, text string) string {
	p.Helper()
	file := filepath.Join(p.home, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.Fatalf("%v", err)
	}
	return file
}

// has reports whether the repository has a file.
func (p *person) has(name string) bool {
	_, err := os.Lstat(filepath.Join(p.repo, name))
	return err == nil
}

// TestFix has the real client mend what a linter says in SARIF, in two attempts, on the
// conversation that it has. Both are taken back by one restore.
func TestFix(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	p.umbra("mission", "new", "--name", "work", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.talk("work").say("alpha")
	lint := p.inHome("lint.sh", `found=
for f in b:warning a:error; do
	name=${f%:*}.txt
	[ -e $name ] || found="${found:+$found,}{\"ruleId\": \"there\", \"level\": \"${f#*:}\", \"message\": {\"text\": \"it is not there [[bash cmd='echo mended >$name']] [[say $name mended]]\"},
		\"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"$name\"}, \"region\": {\"startLine\": 1}}}]}"
done
echo "{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"lint\"}}, \"results\": [$found]}]}" | tr "'" '\140'
[ -z "$found" ]
`)
	end := asked[fixed](p, "fix", "work", "--check", "sh "+lint, "--backoff", "1ms")
	if end.Stopped != "fixed" || len(end.Attempts) != 2 || end.Attempts[0].Issues[0].File != "a.txt" || end.Attempts[1].Issues[0].File != "b.txt" {
		t.Fatalf("it ended as %+v", end)
	}
	request, ok := p.server.Last(standin.Prompted("umbra fix, attempt 2"))
	if !ok {
		t.Fatal("the model was not sent the second attempt")
	}
	p.sees(request, []string{"assistant: alpha done", "assistant: a.txt mended", "| medium b.txt:1 there", "is: sh " + lint})
	if log := p.umbra("log", "work"); !strings.Contains(log, "fix attempt 1: 1 finding") || !strings.Contains(log, "fix attempt 2: 1 finding") {
		t.Errorf("the log is\n%s", log)
	}
	p.umbra("restore", end.Attempts[0].Address, "--all")
	if p.has("a.txt") || p.has("b.txt") || !p.has("alpha.txt") {
		t.Error("the restore has not taken back what the attempts did, and that alone")
	}
	p.sees(p.goesOn("work"), []string{"assistant: alpha done"}, "mended", "umbra fix")
}

// TestFixMenu: where the real client has used up its attempts, a person on a terminal looks
// at what these have changed, has one more made, goes on by hand, puts all back, or accepts it.
// An agent that is live in a terminal is left alone.
func TestFixMenu(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1", "PAGER=cat", "NO_COLOR=1")
	p.umbra("mission", "new", "--name", "work", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.talk("work").say("alpha")
	check := "sh " + p.inHome("check.sh", "n=$(cat notes.txt 2>/dev/null | grep -c .)\n"+
		"echo 'notes.txt:1:1: error: good is missing, after '$n' lines [[bash cmd=\"echo tried >>notes.txt\"]] [[say tried]]'\ngrep -q good notes.txt\n")
	const asks = "What is to become of it?"
	s := p.terminal(umbraPath(), "fix", "work", "--check", check, "--max-total", "1")
	chooses := func(letter, then string) {
		t.Helper()
		s.see(asks)
		s.tmux("send-keys", letter, "Enter")
		s.see(then)
	}
	chooses("v", "+tried")
	s.tmux("clear-history")
	chooses("o", "work: after 2 attempts 1 finding is left: there may be no more than 1 attempt (--max-total)")
	s.tmux("send-keys", "m", "Enter")
	s.endsWith("3")
	p.refused(3, "umbra fix --continue work makes one more attempt", "fix", "work", "--continue")

	p.umbra("fix", "work", "--status")
	s.begin(p.repo, umbraPath(), "fix", "work", "--continue")
	s.see("work: after 4 attempts")
	chooses("r", "work is as it was before the first attempt")
	s.endsWith("0")
	if p.has("notes.txt") || !p.has("alpha.txt") {
		t.Error("rejected, and the workspace is not as it was before the first attempt")
	}
	p.sees(p.goesOn("work"), []string{"assistant: alpha done"}, "tried")
	s.begin(p.repo, umbraPath(), "fix", "work", "--check", check, "--max", "high=1")
	s.see("there may be no further attempt at what is high (--max)")
	chooses("a", "umbra fix of work is dropped; the files are as they are")
	s.endsWith("0")
	if !p.has("notes.txt") {
		t.Error("accepted, and what was attempted is gone")
	}
	p.refused(10, "no umbra fix of work waits", "fix", "work", "--status")

	s.begin(p.repo, umbraPath(), "mission", "resume", "work", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	p.refused(11, "umbra mission stop work ends it, umbra mission resume work brings it back", "fix", "work", "--check", check)
	p.umbra("mission", "stop", "work")
}

// TestFixReviewer has the real client review what a mission has done, in a copy, and mend
// what was found; it reviews again. An answer without a list is no review.
func TestFixReviewer(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	mended := p.inHome("mended", "good [[say [] ]]\n")
	page := p.inHome("page", `wrong [[say [{"severity": "medium", "message": "it says wrong", "file": "page.txt", "line": 1, `+
		`"suggestion": "\u005b\u005bbash cmd=\"cp `+mended+` page.txt\"\u005d\u005d \u005b\u005bsay I have mended it\u005d\u005d"}] ]]`+"\n")
	p.umbra("mission", "new", "--name", "work", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.turn("work", "bravo", `bravo, please [[bash cmd="cp `+page+` page.txt"]] [[say bravo done]]`)

	end := asked[fixed](p, "fix", "work", "--reviewer", "claude", "--backoff", "1ms")
	if end.Stopped != "fixed" || len(end.Attempts) != 1 || end.Attempts[0].Issues[0].File != "page.txt" {
		t.Fatalf("it ended as %+v", end)
	}
	review, ok := p.server.Last(standin.Prompted("umbra review of work"))
	if !ok {
		t.Fatal("no model was asked for a review")
	}
	p.sees(review, []string{"| bravo, please", `| added "page.txt"`, "| +good"}, "assistant: bravo done\nuser", "I have mended it")
	attempt, _ := p.server.Last(standin.Prompted("umbra fix, attempt 1"))
	p.sees(attempt, []string{"assistant: bravo done", "| medium page.txt:1", "| it says wrong"}, "umbra review of")
	if text, err := os.ReadFile(filepath.Join(p.repo, "page.txt")); err != nil || !strings.HasPrefix(string(text), "good") {
		t.Errorf("page.txt holds %q, %v", text, err)
	}

	if err := os.WriteFile(filepath.Join(p.repo, "page.txt"), []byte("[[say It looks good to me.]]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.refused(1, "claude has given no review: it ends with no list of findings", "fix", "work", "--reviewer", "claude")
	if said := p.umbra("mission", "ls"); strings.Contains(said, "work-review") {
		t.Errorf("a copy of a review stays: %s", said)
	}
}
