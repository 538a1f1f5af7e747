package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// A process of an agent that appends to a conversation. A long line takes more than
// one write.
type appending struct {
	t    *testing.T
	file *os.File
}

func appendTo(t *testing.T, path string) *appending {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &appending{t, f}
}

func (a *appending) write(text string) {
	if _, err := a.file.WriteString(text); err != nil {
		a.t.Error(err)
	}
}

// broken counts the lines that are not JSON.
func broken(p []byte) (n int) {
	for line := range bytes.Lines(p) {
		if !json.Valid(line) {
			n++
		}
	}
	return n
}

// TestTwoProcessesOnOneConversation: a conversation that is resumed twice is written
// by two processes. A fork or a restore never does that: it goes on in a file of its
// own. Where the user has done it, the snapshots hold what was in the file.
func TestTwoProcessesOnOneConversation(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	turn := func(who string) string {
		return c.line("user", who+"-1", "", fmt.Sprintf("%q", "asked by "+who)) + "\n" +
			c.line("assistant", who+"-2", who+"-1", fmt.Sprintf(`[{"type":"text","text":%q}]`, strings.Repeat(who, 50_000))) + "\n"
	}
	naive := filepath.Join(t.TempDir(), "resumed-twice.jsonl")
	one, two := appendTo(t, naive), appendTo(t, naive)
	first, second := turn("one"), turn("two")
	one.write(first[:len(first)/2])
	two.write(second)
	one.write(first[len(first)/2:])
	torn, err := os.ReadFile(naive)
	hazards.Shown(t, hazards.H28, err == nil && broken(torn) > 0, "a fork that resumes the same conversation appends to the same file: a line of the one process ends up inside that of the other")

	source := c.only()
	made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	forked := made.Missions[0].SessionPath
	before, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	own, theirs := appendTo(t, c.transcript), appendTo(t, forked)
	own.write(first[:len(first)/2])
	theirs.write(second)
	own.write(first[len(first)/2:])
	for file, other := range map[string]string{c.transcript: "asked by two", forked: "asked by one"} {
		if p, err := os.ReadFile(file); err != nil || broken(p) > 0 || bytes.Contains(p, []byte(other)) {
			t.Errorf("%s has %d broken lines, %v", file, broken(p), err)
		}
	}
	if p, err := os.ReadFile(c.transcript); err != nil || string(p) != string(before)+first {
		t.Errorf("the source is not what its own process has written: %v", err)
	}
	hazards.Held(t, hazards.H28, "a fork and a restore go on in a file of their own, while the agent appends to that which they come from")

	// The user resumes it a second time: both write at once, while snapshots are taken.
	var writers sync.WaitGroup
	for _, who := range []string{"three", "four"} {
		writers.Go(func() {
			a, text := appendTo(t, c.transcript), turn(who)
			for len(text) > 0 {
				n := min(len(text), 997)
				a.write(text[:n])
				text = text[n:]
			}
		})
	}
	var held []string
	for n := range 8 {
		c.write("a.txt", fmt.Sprintf("%d\n", n))
		c.snapshot("while both write")
		content, _ := c.recordedOf(source.ID)
		held = append(held, content)
	}
	writers.Wait()
	c.write("a.txt", "after\n")
	c.snapshot("after")
	last, _ := c.recordedOf(source.ID)
	all, err := os.ReadFile(c.transcript)
	if err != nil || last != string(all) {
		t.Errorf("the record holds %d bytes of %d, %v", len(last), len(all), err)
	}
	for n, content := range held {
		if !strings.HasPrefix(string(all), content) || len(content) < len(before)+len(first) {
			t.Errorf("snapshot %d holds %d bytes that the file never began with", n, len(content))
		}
	}
	r := c.restore(source.Name+"@1", func(r *missions.RestoreRequest) { r.All, r.Force = true, true })
	m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: source.Name})
	if err != nil {
		t.Fatal(err)
	}
	restored, err := os.ReadFile(m.SessionPath)
	if err != nil || !r.Conversation.Switched || m.SessionID == c.session || broken(restored) > 0 || !bytes.Contains(restored, []byte("first")) || bytes.Contains(restored, []byte("asked by")) {
		t.Errorf("restored: %+v, %d bytes with %d broken lines, %v", r.Conversation, len(restored), broken(restored), err)
	}
	if now, err := os.ReadFile(c.transcript); err != nil || string(now) != string(all) {
		t.Errorf("the conversation that was left has changed: %v", err)
	}
	c.healthy()
	hazards.Held(t, hazards.H28, "of a conversation that two processes append to, each snapshot holds what the file held at a moment; a restore leaves out what they have torn since")
}
