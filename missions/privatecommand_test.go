package missions

import (
	"context"
	"errors"
	"io/fs"
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
	t.Parallel()
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
	t.Parallel()
	c := startTalker(t)
	command, secret := secretCommand()
	m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.local.journal.DeleteLive(m.ID), c.local.journal.DropPrivate(m.ID)); err != nil {
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
	t.Parallel()
	c := startTalker(t)
	command, secret := secretCommand()
	created, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: []string{"claude"}})
	if err != nil {
		t.Fatal(err)
	}
	m := c.load("work")
	m.Command = command // as an earlier record has it
	if err := c.local.writeMeta(context.Background(), m, "test"); err != nil {
		t.Fatal(err)
	}
	if got := c.load("work"); !slices.Equal(got.Command, command) || got.life.LastTurn() != created.Turn {
		t.Errorf("%q", got.Command)
	}
	if doc := c.recorded("work"); strings.Contains(doc, secret) {
		t.Error(doc)
	}
	if doc, err := c.local.journal.Private(created.ID); err != nil || !strings.Contains(string(doc), secret) {
		t.Errorf("%s, %v", doc, err)
	}
	if _, err := m.project.store.Ref(gitstore.AgentRef(created.ID)); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfFormerCommands: the secrets of a command go when the mission has another
// one, and with the last of them the file that held them.
func TestSecretsOfFormerCommands(t *testing.T) {
	t.Parallel()
	c, m, _, former := secretMission(t)
	launch := func(command ...string) {
		t.Helper()
		if _, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "work", Command: command}); err != nil {
			t.Fatal(err)
		}
		c.snapshot("with its command") // which the newest record has now
		c.snapshot("and none before it")
	}
	launch("claude", "--api-key", "another-drawn-by-lot")
	if len(c.holding(former)) > 0 || len(c.holding("another-drawn-by-lot")) == 0 {
		t.Errorf("the former secret is in %q, the other in %q", c.holding(former), c.holding("another-drawn-by-lot"))
	}
	_ = c.launches("work", "another-drawn-by-lot", true)
	launch("claude")
	if files := c.holding("another-drawn-by-lot"); len(files) > 0 {
		t.Errorf("the secret of what is run no more is in %q", files)
	}
	if _, err := c.local.journal.Private(m.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	c.healthy()
}
