package missions

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// secretMission begins a mission whose command has a secret.
func secretMission(t *testing.T) (c *talker, m Mission, command []string, secret string) {
	c = startTalker(t)
	command, secret = secretCommand()
	m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return c, m, command, secret
}

// launches checks whether a mission is launched with the secret, and returns why not.
func (b *testBench) launches(name, secret string, want bool) error {
	b.Helper()
	launch, err := b.local.Launch(b.Context(), LaunchRequest{Caller: b.caller(), Mission: name})
	if has := err == nil && strings.Contains(strings.Join(launch.Argv, " "), secret); has != want {
		b.Errorf("%s is launched with %q, %v", name, launch.Argv, err)
	}
	return err
}

// holding lists the files of the home that hold a text.
func (b *testBench) holding(text string) (files []string) {
	b.Helper()
	err := filepath.WalkDir(b.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// toTrash removes a mission.
func (b *testBench) toTrash(name string) {
	b.Helper()
	if _, err := b.local.Remove(b.Context(), RemoveRequest{Caller: b.caller(), Missions: []string{name}}); err != nil {
		b.Fatal(err)
	}
}

// TestSecretsThroughTheTrash: a mission that is taken back from the trash has its whole
// command, unless the trash was emptied: then the secret is nowhere in the home.
func TestSecretsThroughTheTrash(t *testing.T) {
	t.Parallel()
	c, m, _, secret := secretMission(t)
	_ = c.launches("work", secret, true)
	removed := c.local.now()
	c.toTrash("work")
	c.healthy()
	in, err := c.trash(false)
	if err != nil || len(in.Removed) != 1 || len(in.Removed[0].Items) != 1 || in.Removed[0].Items[0].At.Before(removed.Add(-time.Second)) {
		t.Fatalf("in the trash: %+v %v", in, err)
	}
	if files := c.holding(secret); len(files) != 1 || files[0] != in.Removed[0].Items[0].Path {
		t.Errorf("the secret of what is in the trash is in %q", files)
	}
	fork, err := c.local.Fork(t.Context(), ForkRequest{Caller: c.caller(), From: m.Head, Name: "child"})
	if err != nil || len(fork.Missions) != 1 {
		t.Fatal(err)
	}
	_ = c.launches("child", secret, true)
	c.toTrash("child")
	c.unremove("work")
	_ = c.launches("work", secret, true)
	if done, err := c.trash(true); err != nil || len(done.Removed) != 1 || done.Removed[0].Name != "child" {
		t.Errorf("emptied: %+v %v", done, err)
	}
	_ = c.launches("work", secret, true)
	c.toTrash("work")
	if done, err := c.trash(true); err != nil || !done.Some() || len(done.Left) > 0 {
		t.Errorf("emptied: %+v %v", done, err)
	}
	if files := c.holding(secret); len(files) > 0 {
		t.Errorf("the secret of what was in the trash is in %q", files)
	}
	c.unremove("work")
	if err := c.launches("work", secret, false); !strings.Contains(AsError(err).Hint, "umbra mission resume work -- COMMAND") {
		t.Errorf("without it: %v", err)
	}
	c.healthy()
}

// TestTrashOfCommands: what was listed as removed and is back since keeps its command,
// and --older-than counts from the removal.
func TestTrashOfCommands(t *testing.T) {
	t.Parallel()
	c, _, _, secret := secretMission(t)
	before := c.local.now()
	c.toTrash("work")
	if old, err := c.local.Trash(t.Context(), TrashRequest{Caller: c.caller(), Before: before, Empty: true}); err != nil || old.Some() {
		t.Errorf("what was removed since is emptied: %+v %v", old, err)
	}
	all, _, err := c.local.trash()
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	c.unremove("work")
	if gone, left := c.local.emptyTrash(t.Context(), all[0]); len(gone) > 0 || len(left) != 1 {
		t.Errorf("of one that is back: %+v, left %+v", gone, left)
	}
	_ = c.launches("work", secret, true)
}

// TestTrashOfDamagedCommands: what was set aside of a command is in the trash with its
// mission, as new as the removal, and emptying the trash leaves the secret nowhere.
func TestTrashOfDamagedCommands(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(c *talker, command []string) error{
		"not mended": func(*talker, []string) error { return nil },
		"given anew": func(c *talker, command []string) error {
			_, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "work", Command: command})
			return err
		},
		"set aside by doctor": func(c *talker, _ []string) error {
			c.mended("a damaged command")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, m, command, secret := secretMission(t)
			file := filepath.Join(c.home, "journal", "private", m.ID)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c.put(file, "0"+string(whole))
			if err := mend(c, command); err != nil {
				t.Fatal(err)
			}
			before := c.local.now()
			c.toTrash("work")
			old, err := c.local.Trash(t.Context(), TrashRequest{Caller: c.caller(), Before: before, Empty: true})
			if files := c.holding(secret); err != nil || old.Some() || len(files) == 0 {
				t.Errorf("what was removed since is emptied: %+v, %q, %v", old, files, err)
			}
			if done, err := c.trash(true); err != nil || !done.Some() || len(done.Left) > 0 {
				t.Errorf("emptied: %+v %v", done, err)
			}
			if files := c.holding(secret); len(files) > 0 {
				t.Errorf("the secret of what was in the trash is in %q", files)
			}
		})
	}
}

// TestRemovalWritesNoCommand: a removal needs no room on the disk for the command.
func TestRemovalWritesNoCommand(t *testing.T) {
	t.Parallel()
	c, m, _, secret := secretMission(t)
	file := filepath.Join(c.home, "journal", "private", m.ID)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	c.toTrash("work")
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("written anew: %v", err)
	}
	c.unremove("work")
	_ = c.launches("work", secret, true)
}

// TestSecretsOutliveTheLiveState, which a power cut may take away.
func TestSecretsOutliveTheLiveState(t *testing.T) {
	t.Parallel()
	c, m, _, secret := secretMission(t)
	if err := c.local.journal.DeleteLive(m.ID); err != nil {
		t.Fatal(err)
	}
	_ = c.launches("work", secret, true)
	if files := c.holding(secret); len(files) == 0 || !strings.HasPrefix(files[len(files)-1], filepath.Join(c.home, "journal", "private")) {
		t.Errorf("it is in %q", files)
	}
	c.healthy()
}

// TestNoRecordWithoutItsSecrets: where the whole command can't be kept, nothing is
// published that lacks its secrets.
func TestNoRecordWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	command, secret := secretCommand()
	m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "plain", Command: []string{"claude"}})
	if err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(c.home, "journal", "private")
	c.put(private, "in the way\n")
	if m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "work", Command: command}); err == nil {
		t.Errorf("begun: %+v", m)
	}
	if f, err := c.local.Fork(t.Context(), ForkRequest{Caller: c.caller(), From: "plain", Name: "child", Command: command}); err == nil {
		t.Errorf("forked: %+v", f)
	}
	if l, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "plain", Command: command}); err == nil {
		t.Errorf("launched: %+v", l)
	}
	list, err := c.local.Missions(t.Context(), MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) != 1 || list[0].ID != m.ID || len(list[0].Command) != 1 {
		t.Errorf("missions: %+v %v", list, err)
	}
	if err := os.Remove(private); err != nil {
		t.Fatal(err)
	}
	if files := c.holding(secret); len(files) > 0 {
		t.Errorf("the secret is in %q", files)
	}
	c.healthy()
}

// TestFailuresLeaveNoCommand: neither a mission nor a fork that could not be made leaves
// its command behind.
func TestFailuresLeaveNoCommand(t *testing.T) {
	t.Parallel()
	c, m, _, _ := secretMission(t)
	command := []string{"claude", "--settings", `{"env":{"ANTHROPIC_API_KEY":"another-drawn-by-lot-9Zq7Xw3Lk5"}}`}
	c.local.syncForks = func([]*fork.Made) (int, error) { return 0, errors.New("the disk is gone") }
	if f, err := c.local.Fork(t.Context(), ForkRequest{Caller: c.caller(), From: "work", Name: "child", Command: command}); err == nil {
		t.Errorf("forked: %+v", f)
	}
	agents := filepath.Join(m.ShadowRepo, "refs", "agents")
	if err := os.Rename(agents, agents+"-kept"); err != nil {
		t.Fatal(err)
	}
	c.put(agents, "in the way\n")
	if m, err := c.local.NewMission(t.Context(), NewMissionRequest{Caller: c.caller(), Name: "other", Command: command}); err == nil {
		t.Errorf("begun: %+v", m)
	}
	if err := errors.Join(os.Remove(agents), os.Rename(agents+"-kept", agents)); err != nil {
		t.Fatal(err)
	}
	if files := c.holding("another-drawn-by-lot"); len(files) > 0 {
		t.Errorf("the secret of what was not made is in %q", files)
	}
	c.healthy()
}

// TestDamagedCommand: a file that can't be read is said, is not written over by what
// lacks the secrets, and holds up nothing but a launch without them.
func TestDamagedCommand(t *testing.T) {
	t.Parallel()
	c, m, command, secret := secretMission(t)
	file := filepath.Join(c.home, "journal", "private", m.ID)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	garbage := "garbage" + string(whole)
	c.put(file, garbage)
	c.write("a.txt", "one\n")
	c.snapshot("goes on")
	if _, err := c.local.Rename(t.Context(), RenameRequest{Caller: c.caller(), Mission: "work", Name: "named"}); err != nil {
		t.Error(err)
	}
	err = c.launches("named", secret, false)
	c.fails("launched without its secrets", err, KindDamaged)
	if err != nil && (!strings.Contains(err.Error(), file) || !strings.Contains(AsError(err).Hint, "umbra mission resume named -- COMMAND")) {
		t.Errorf("what is said: %v (%s)", err, AsError(err).Hint)
	}
	shown, err := c.local.Mission(t.Context(), MissionRequest{Caller: c.caller(), Name: "named"})
	if err != nil || !strings.Contains(strings.Join(shown.Problems, " "), file) {
		t.Errorf("shown: %q %v", shown.Problems, err)
	}
	fork, err := c.local.Fork(t.Context(), ForkRequest{Caller: c.caller(), From: "named", Name: "child"})
	if err != nil || !strings.Contains(strings.Join(fork.Notes, " "), "umbra mission resume child -- COMMAND") {
		t.Errorf("forked: %q %v", fork.Notes, err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != garbage {
		t.Errorf("it was written over: %q %v", now, err)
	}
	c.put(file, string(whole)) // as it may be again
	_ = c.launches("named", secret, true)
	c.put(file, garbage)
	if _, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "named", Command: command}); err != nil {
		t.Errorf("given anew: %v", err)
	}
	_ = c.launches("named", secret, true)
	_, aside, err := c.local.journal.Aside()
	if err != nil || len(aside) != 1 {
		t.Errorf("set aside: %q %v", aside, err)
	}
	c.put(file, garbage)
	c.mended("a damaged command")
	_ = c.launches("named", secret, false)
}

// TestCommandUnreadNow: what can't be read now, and may be again, is not called damaged,
// and nothing is put in its place.
func TestCommandUnreadNow(t *testing.T) {
	t.Parallel()
	c, m, command, secret := secretMission(t)
	file := filepath.Join(c.home, "journal", "private", m.ID)
	if err := errors.Join(os.Rename(file, file+".away"), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	c.fails("launched without its secrets", c.launches("work", secret, false), KindFailed)
	_, err := c.local.Launch(t.Context(), LaunchRequest{Caller: c.caller(), Mission: "work", Command: command})
	c.fails("given anew", err, KindFailed)
	d, err := c.local.Doctor(t.Context(), DoctorRequest{Caller: c.caller(), Fix: true})
	if err != nil || len(d.Problems) != 1 || len(d.Fixed) > 0 || !strings.Contains(d.Problems[0].Message, file) {
		t.Errorf("doctor: %+v %v", d, err)
	}
	if err := errors.Join(os.Remove(file), os.Rename(file+".away", file)); err != nil {
		t.Fatal(err)
	}
	_ = c.launches("work", secret, true)
	c.healthy()
}

// TestCommandsOfNoMission: what a killed process has left of a mission that never was,
// doctor finds and removes, but not while one may be about to begin.
func TestCommandsOfNoMission(t *testing.T) {
	t.Parallel()
	c, m, _, secret := secretMission(t)
	left, err := os.ReadFile(filepath.Join(c.home, "journal", "private", m.ID))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.home, "journal", "private", "0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11")
	c.put(file, string(left))
	held, err := lock.Try(lock.ProjectFile(c.home, m.ProjectID), lock.Shared, lock.Self("umbra mission new"))
	if err != nil {
		t.Fatal(err)
	}
	c.healthy()
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	c.mended("a command of no mission")
	c.stands(file, false)
	_ = c.launches("work", secret, true)
	c.toTrash("work")
	c.healthy()
}

// TestCommandOfADyingProcess: whichever record is the newest when a process is killed,
// its command is there, however often that happens.
func TestCommandOfADyingProcess(t *testing.T) {
	t.Parallel()
	c, _, command, _ := secretMission(t)
	for _, model := range []string{"opus", "haiku", "sonnet"} {
		m := c.load("work")
		m.Command = append([]string{"claude", "--model", model}, command[1:]...)
		if _, err := c.local.keepCommand(m); err != nil {
			t.Fatal(err)
		}
		if got := c.load("work"); strings.Join(got.Command, " ") != strings.Join(command, " ") {
			t.Errorf("killed before the record with %s, it has %q", model, got.Command)
		}
	}
	m := c.load("work")
	m.Command = append([]string{"claude", "--model", "opus"}, command[1:]...)
	if err := c.local.writeMeta(t.Context(), m, "test"); err != nil {
		t.Fatal(err)
	}
	if got := c.load("work"); strings.Join(got.Command, " ") != strings.Join(m.Command, " ") {
		t.Errorf("recorded, it has %q", got.Command)
	}
}

// TestCommandInALiveState: what an earlier Umbra has noted in the live state is run, and
// kept before that is written anew or removed.
func TestCommandInALiveState(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(c *talker){
		"changed": func(c *talker) {
			c.local.saveLive(c.load("work"))
			if m := c.load("work"); len(m.live.Private) > 0 {
				t.Errorf("it is still in the live state: %+v", m.live.Private)
			}
		},
		"removed": func(c *talker) {
			c.toTrash("work")
			c.unremove("work")
		},
		"renamed": func(c *talker) {
			if _, err := c.local.Rename(t.Context(), RenameRequest{Caller: c.caller(), Mission: "work", Name: "work-2"}); err != nil {
				t.Error(err)
			}
			if _, err := c.local.Rename(t.Context(), RenameRequest{Caller: c.caller(), Mission: "work-2", Name: "work"}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, m, _, secret := secretMission(t)
			commands, err := c.local.privateCommands(m.ID)
			if err != nil {
				t.Fatal(err)
			}
			earlier := c.load("work")
			earlier.live.Private = commands
			state, err := json.Marshal(earlier.live)
			if err = errors.Join(err, c.local.journal.DropPrivate(m.ID), c.local.journal.PutLive(m.ID, state)); err != nil {
				t.Fatal(err)
			}
			if got := c.load("work"); !slices.Equal(got.Command, commands[0].Whole) {
				t.Errorf("it has %q", got.Command)
			}
			next(c)
			if err := c.local.journal.DeleteLive(m.ID); err != nil {
				t.Fatal(err)
			}
			_ = c.launches("work", secret, true)
			c.healthy()
		})
	}
}

// load reads a mission as whoever changes it does.
func (b *testBench) load(name string) *loaded {
	b.Helper()
	m, err := b.local.findMission(b.Context(), b.caller(), name, writing)
	if err != nil {
		b.Fatal(err)
	}
	return m
}
