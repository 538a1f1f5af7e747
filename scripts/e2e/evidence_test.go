package e2e

import (
	"os"
	"path/filepath"
	"strings"
)

// mostEvidence is how much of the end of a file a failed test shows.
const mostEvidence = 32 << 10

// evidence shows what a failed test leaves behind: what each terminal was sent,
// the daemon's log, and the states that each mission went through.
func (p *person) evidence() {
	p.Helper()
	home := filepath.Join(p.home, ".local", "share", "umbra")
	for _, pattern := range []string{
		filepath.Join(p.home, "terminal-*"),
		filepath.Join(home, "daemon.log*"),
		filepath.Join(home, "journal", "live", "*"),
	} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				p.Logf("%v", err)
				continue
			}
			shown := string(text[max(0, len(text)-mostEvidence):])
			p.Logf("%s\n%s", name, strings.ReplaceAll(shown, "\x1b", "^["))
		}
	}
	if all := p.server.Requests(); len(all) > 0 {
		text := strings.Join(p.plain(all[len(all)-1]), "\n")
		p.Logf("the model was last asked:\n%s", text[max(0, len(text)-mostEvidence):])
	}
	// Of a long output a gate may show the end alone.
	for _, said := range p.wrong {
		p.Logf("it failed: %s", said)
	}
}
