package missions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// secretCommand is one that gives its agent a key.
func secretCommand() (command []string, secret string) {
	secret = "sk-ant-api03-" + strings.Repeat("aB3dE5gH", 11)
	return []string{"claude", "--settings", `{"env":{"ANTHROPIC_API_KEY":"` + secret + `"}}`}, secret
}

// recorded is what the newest record says of a mission.
func (b *testBench) recorded(name string) string {
	b.Helper()
	m, err := b.local.findMission(b.Context(), b.caller(), name, reading)
	if err != nil {
		b.Fatal(err)
	}
	doc, err := m.project.store.RecordFile(m.record, missionDoc)
	if err != nil {
		b.Fatal(err)
	}
	return string(doc)
}

// TestSecretsOfACommand: no record has a secret of a mission's command, nor has what is
// shown of it; the mission and its forks are launched with it all the same.
func TestSecretsOfACommand(t *testing.T) {
	c := startTalker(t)
	command, secret := secretCommand()
	ctx := t.Context()
	m, err := c.local.NewMission(ctx, NewMissionRequest{Caller: c.caller(), Name: "work", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := c.local.Fork(ctx, ForkRequest{Caller: c.caller(), From: "work", Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Rename(ctx, RenameRequest{Caller: c.caller(), Mission: "work", Name: "named"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"named", "child"} {
		doc := c.recorded(name)
		if strings.Contains(doc, secret) || !strings.Contains(doc, "umbra-left-out") {
			t.Errorf("%s is recorded as %s", name, doc)
		}
		launch, err := c.local.Launch(ctx, LaunchRequest{Caller: c.caller(), Mission: name})
		if err != nil || !strings.Contains(strings.Join(launch.Argv, " "), secret) {
			t.Errorf("%s is launched with %q, %v", name, launch.Argv, err)
		}
		if strings.Contains(strings.Join(launch.Mission.Command, " "), secret) {
			t.Errorf("%s is shown with %q", name, launch.Mission.Command)
		}
		if doc := c.recorded(name); strings.Contains(doc, secret) {
			t.Errorf("%s, launched, is recorded as %s", name, doc)
		}
	}
	if strings.Contains(strings.Join(append(m.Command, fork.Missions[0].Command...), " "), secret) {
		t.Errorf("shown: %q, %q", m.Command, fork.Missions[0].Command)
	}
}

// TestSecretsThatAreGone: a mission whose command's secrets are not in the home is not
// launched without them, and the refusal says what to type.
func TestSecretsThatAreGone(t *testing.T) {
	c := startTalker(t)
	command, secret := secretCommand()
	m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.local.journal.DeleteLive(m.ID); err != nil {
		t.Fatal(err)
	}
	_, err = c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "work"})
	if e := AsError(err); err == nil || e.Kind != KindConflict || !strings.Contains(e.Hint, "umbra mission resume work -- COMMAND") || strings.Contains(err.Error(), secret) {
		t.Errorf("without them: %v", err)
	}
	for _, given := range [][]string{command, nil} {
		launch, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "work", Command: given})
		if err != nil || !strings.Contains(strings.Join(launch.Argv, " "), secret) {
			t.Errorf("given %q: %q, %v", given, launch.Argv, err)
		}
	}
	if doc := c.recorded("work"); strings.Contains(doc, secret) {
		t.Error(doc)
	}
}

// TestCommandOfAnEarlierRecord: a command that an earlier Umbra has recorded with its
// secrets is noted before a record without them is published.
func TestCommandOfAnEarlierRecord(t *testing.T) {
	c := startTalker(t)
	command, secret := secretCommand()
	created, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: []string{"claude"}})
	if err != nil {
		t.Fatal(err)
	}
	load := func() *loaded {
		m, err := c.local.findMission(t.Context(), c.caller(), "work", writing)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := load()
	m.Command = command // as an earlier record has it
	if err := c.local.writeMeta(context.Background(), m, "test"); err != nil {
		t.Fatal(err)
	}
	if got := load(); !slices.Equal(got.Command, command) || got.life.LastTurn() != created.Turn {
		t.Errorf("%q", got.Command)
	}
	if doc := c.recorded("work"); strings.Contains(doc, secret) {
		t.Error(doc)
	}
	// Where only the note of another command has been published, the one before counts.
	m = load()
	m.Command = []string{"claude", "--settings", `{"env":{"A":"b"}}`}
	if !m.keepPrivate() || c.local.notePrivate(m) != nil {
		t.Fatal("not noted")
	}
	if got := load(); !slices.Equal(got.Command, command) {
		t.Errorf("%q", got.Command)
	}
	if state, err := c.local.journal.Live(created.ID); err != nil || !strings.Contains(string(state), secret) {
		t.Errorf("%s, %v", state, err)
	}
	if _, err := m.project.store.Ref(gitstore.AgentRef(created.ID)); err != nil {
		t.Error(err)
	}
}
