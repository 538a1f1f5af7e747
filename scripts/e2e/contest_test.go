package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestContest has four forks of a repository of 10,000 files try to mend a failing test with
// the real client. The contest is killed while two of them work, and goes on: the one that has
// mended it is found, and comes home. The others can still be resumed.
func TestContest(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1", "UMBRA_MISSIONS_MAX_LIVE=2")
	if err := (&lab.Tree{Files: 10_000, Seed: 1}).Make(filepath.Join(p.repo, "tree")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, p.repo, "add", "tree")
	gitIn(t, p.repo, "commit", "-q", "-m", "many files")
	const check = "sh sum_test.sh"
	for name, text := range map[string]string{"sum.sh": "echo $(($1 - $2))\n", "sum_test.sh": "test \"$(sh sum.sh 2 3)\" = 5\n"} {
		if err := os.WriteFile(filepath.Join(p.repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.umbra("mission", "new", "--name", "source", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.talk("source").say("alpha")

	contest := []string{"contest", "source", "--name", "try", "--check", check}
	for i, sign := range []string{"*", "/", "+", "%"} {
		write := fmt.Sprintf("[[write path=%s content=%q]]", "mended.sh", "echo $(($1 "+sign+" $2))\n")
		contest = append(contest, "--prompt", fmt.Sprintf("way %d, please %s [[bash cmd=\"mv mended.sh sum.sh\"]] [[wait mend]] [[say way %d done]]", i+1, write, i+1))
	}
	cmd, cancel := p.command(p.repo, append([]string{"umbra"}, contest...)...)
	defer cancel()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.wait("two forks to be in the middle of their turns", func() bool {
		return p.waitsIn(1) && p.waitsIn(2)
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	p.server.Release("mend")

	table := asked[[]compared](p, "contest", "--continue")
	for i, f := range table {
		want := "bad"
		if f.Mission == "try-3" {
			want = "good"
		}
		if f.Mission != fmt.Sprint("try-", i+1) || f.Check.State != want || f.Turns != 1 || f.Files != 1 {
			t.Errorf("row %d is %+v", i, f)
		}
	}
	if len(table) != 4 {
		t.Fatalf("the table has %d rows", len(table))
	}
	for i := range table {
		request, ok := p.server.Last(standin.Prompted(fmt.Sprintf("way %d, please", i+1)))
		if lines := strings.Join(p.plain(request), "\n"); !ok || !strings.Contains(lines, "assistant: alpha done") {
			t.Errorf("in fork %d the model was sent %s", i+1, lines)
		}
	}

	if out := p.run(p.repo, "sh", "sum_test.sh"); out.code == 0 {
		t.Error("the source is mended before the promotion")
	}
	p.umbra("promote", "try-3", "--keep")
	if out := p.run(p.repo, "sh", "sum_test.sh"); out.code != 0 {
		t.Errorf("after the promotion: %s", out)
	}
	home := p.goesOn("source")
	p.sees(home, []string{"assistant: way 3 done"}, "assistant: way 1 done")
	for _, text := range []string{"mission try-1 reports", "mission try-1 was checked", "| bad: the check of its contest is " + check, "| good: the check of its contest is " + check} {
		if !strings.Contains(string(home.Body), text) {
			t.Errorf("the source's model was not sent %q, but\n%s", text, home.Body)
		}
	}
	p.sees(p.goesOn("try-1"), []string{"assistant: way 1 done"}, "way 3 done")
}

// compared is what this test reads of a row of a contest.
type compared struct {
	Mission string `json:"mission"`
	Check   struct {
		State string `json:"state"`
	} `json:"check"`
	Turns int `json:"turns"`
	Files int `json:"files"`
}

// waitsIn reports whether a fork of the contest is in the middle of its turn: its tools have
// run, and the model has not answered.
func (p *person) waitsIn(way int) bool {
	request, ok := p.server.Last(standin.Prompted(fmt.Sprintf("way %d, please", way)))
	lines := p.plain(request)
	return ok && len(lines) > 1 && strings.HasPrefix(lines[len(lines)-1], "result: ") && strings.Contains(lines[len(lines)-2], "mv mended.sh")
}
