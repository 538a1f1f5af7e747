package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestMerger has the real client merge what two forks changed in the same line: marks that it
// leaves and what the check does not like are refused, and what is good comes home by one
// operation. It is told what each fork was asked for, and nothing else of what was said.
func TestMerger(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shared, merged := filepath.Join(p.repo, "shared"), filepath.Join(p.home, "merged")
	write(shared, "1\n2\n3\n")
	way := filepath.Join(p.home, "way.sh") // which a prompt names shortly: a merger is given its beginning
	write(way, "if grep -q '^<<<<<<< ' shared; then [ ! -e "+merged+" ] || cp "+merged+" shared; elif grep -q '^2$' shared; then printf '1\\nway %s\\n3\\n' \"$1\" >shared; fi\n")
	p.umbra("mission", "new", "--name", "source", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.talk("source").say("alpha")
	run := []string{"fork", "run", "source", "--name", "way"}
	for _, n := range []string{"1", "2"} {
		run = append(run, "--prompt", "way "+n+", please [[bash cmd=\"sh ~/way.sh "+n+"\"]] [[say shared: has both ways]]")
	}
	p.umbra(run...)

	merge := []string{"merge", "way-1", "way-2", "--merger", "claude", "--check", "grep -q both shared"}
	holds := func() string {
		t.Helper()
		text, err := os.ReadFile(shared)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	isOpen := func(says string, args ...string) {
		t.Helper()
		out := p.run(p.repo, append([]string{"umbra"}, args...)...)
		if out.code != 12 || !strings.Contains(out.stdout, says) {
			t.Fatalf("want exit code 12 and %q: %s", says, out)
		}
	}
	isOpen("the agent has left marks of conflicts", merge...)
	request, ok := p.server.Last(standin.Prompted("umbra merge into source"))
	said := strings.Join(p.plain(request), "\n")
	if !ok || !strings.Contains(said, "| way 1, please") || !strings.Contains(said, "| way 2, please") || strings.Contains(said, "alpha") {
		t.Errorf("the model was sent %s", said)
	}
	write(merged, "neither\n")
	isOpen("the check does not pass with what was proposed", "merge", "--continue", "--merger", "claude")
	if got := holds(); got != "1\n2\n3\n" {
		t.Errorf("the target has changed: %q", got)
	}
	write(merged, "both\n")
	isOpen("the check passes with what claude proposes: has both ways", "merge", "--continue", "--merger", "claude")
	p.umbra("merge", "--resolve", "shared=proposal", "--continue")
	if got := holds(); got != "both\n" {
		t.Errorf("merged to %q", got)
	}
	p.umbra("undo", "source")
	if said := p.umbra(append(merge, "--auto", "medium")...); !strings.Contains(said, "proposal of claude, accepted by the check") || holds() != "both\n" {
		t.Errorf("accepted by the check: %s", said)
	}
	if said := p.umbra("mission", "ls"); strings.Contains(said, "merger") || strings.Contains(said, "-check") {
		t.Errorf("a workspace of the merge stays: %s", said)
	}
}
