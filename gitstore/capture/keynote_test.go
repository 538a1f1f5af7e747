package capture

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// TestKeynoteIsNoSecret: presentations and private keys share a name. The record says
// that the presentation was captured, so that a restore may put it back.
func TestKeynoteIsNoSecret(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	want := map[string]string{"talk.key": "PK\x03\x04 slides", "a/TALK.key": "PK\x03\x04"}
	for name, content := range want {
		l.write(name, content)
	}
	for _, name := range []string{"server.key", "empty.key", "talk.pem"} {
		l.write(name, "PK\x03")
	}
	r := l.walk()
	l.wantFiles(r, want)
	recorded := l.recorded(r)
	for name, eligible := range map[string]bool{"talk.key": true, "a/TALK.key": true, "server.key": false} {
		if got, _, err := recorded.Eligible(name, documents.Candidate{Mode: gitstore.ModeFile}); got != eligible || err != nil {
			t.Errorf("%s would be captured: %t %v", name, got, err)
		}
	}
	l.write("talk.key", "PK\x03\x04 more slides")
	want["talk.key"] = "PK\x03\x04 more slides"
	l.wantFiles(l.walk(), want)
	l.wantFiles(l.paths("server.key", "talk.key"), want)
}
