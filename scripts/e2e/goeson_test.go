package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestGoesOnAfterItsTurn has another tool's hook keep Claude Code from stopping: the
// mission runs in the turn that had ended, no restore ends the agent, and what is queued
// is done when the agent really waits for its user.
func TestGoesOnAfterItsTurn(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	hook, called, leave := filepath.Join(p.home, "check.sh"), filepath.Join(p.home, "asked"), filepath.Join(p.home, "leave")
	script := fmt.Sprintf(`#!/bin/sh
[ -e '%[1]s' ] && exit 0
touch '%[1]s'
until [ -e '%[2]s' ]; do sleep 0.05; done
echo '{"decision": "block", "reason": "more, please [[wait model]] [[write path=b.txt content=b]] [[say more done]]"}'
`, called, leave)
	settings := fmt.Sprintf(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": %q, "timeout": 60}]}]}}`, hook)
	config := filepath.Join(p.home, ".claude")
	for _, err := range []error{
		os.WriteFile(hook, []byte(script), 0o755), os.MkdirAll(config, 0o755),
		os.WriteFile(filepath.Join(config, "settings.json"), []byte(settings), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	s.prompts("tui", "alpha, please [[write path=a.txt content=a]] [[say alpha done]]", 1)
	s.watch("the other tool's hook", func() bool { _, err := os.Stat(called); return err == nil })
	process := s.is("tui", "running", 1).PID
	p.refused(11, "--when-idle", "restore", "tui@1.0") // its turn has ended, and it may go on
	if r := asked[handed](p, "restore", "tui@1.0", "--when-idle"); !r.Queued {
		t.Errorf("restore --when-idle says %+v", r)
	}
	if err := os.WriteFile(leave, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.see("more, please")
	p.server.Release("model")
	s.relaunched(process, "", "alpha done")
	if _, err := os.Stat(filepath.Join(p.repo, "a.txt")); err == nil {
		t.Error("what was queued was not done")
	}
	log := asked[[]entry](p, "log", "tui")
	var addresses []string
	for _, e := range log {
		addresses = append(addresses, e.Address)
	}
	if got := p.run(p.repo, "umbra", "cat", "tui@1", "b.txt"); got.code == 0 || !strings.Contains(strings.Join(addresses, " "), "tui@1.3") {
		t.Errorf("at the first end of the turn there is b.txt: %s; the log has %s", got.stdout, addresses)
	}
	s.stops("tui")
}
